package demo

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/client"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/wire"
	"github.com/signalbox/signalbox/services/signalbox/narrator"
)

// goTest runs `go test ./...` in dir and returns its output.
func goTest(ctx context.Context, dir string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "test", "./...")
	cmd.Dir, cmd.Env = dir, append(sandbox.Environ(), "GOWORK=off")
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// history prints the moves of an instance as a table.
func (s *story) history(ctx context.Context, c *client.Client, id string) error {
	records, err := c.History(ctx, id, 0)
	if err != nil {
		return err
	}
	s.n.Title("The history of %s: %d commits on the log", id, len(records))
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 4, 2, ' ', 0)
	fmt.Fprintln(table, "seq\ttime\tfrom\tto\tafter\tactor\treason")
	var since time.Time
	for _, r := range records {
		at := r.GetTime().AsTime()
		for _, e := range wire.ToEvents(r.GetCommit()) {
			when, actor := at.Format("15:04:05.000"), r.GetCommit().GetActor()
			switch e := e.(type) {
			case instance.Opened:
				fmt.Fprintf(table, "%d\t%s\t\t%s\t\t%s\topened\n", r.GetSeq(), when, e.State, actor)
				since = at
			case instance.Moved:
				after := narrator.Duration(at.Sub(since))
				fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\t%s\t%s\n", r.GetSeq(), when, e.From, e.To, after, actor, e.Reason)
				since = at
			}
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	s.n.Say("%s", strings.TrimRight(text.String(), "\n"))
	return nil
}
