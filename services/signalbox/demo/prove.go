package demo

import (
	"context"
	"os/exec"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/services/signalbox/narrator"
	"github.com/signalbox/signalbox/services/signalbox/view"
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
	if s.env.JSON {
		return view.Table(s.env, view.History(id, records), false)
	}
	s.n.Title("The history of %s: %d commits on the log", id, len(records))
	table := s.env.Table("seq", "time", "from", "to", "after", "actor", "reason").Narrow("reason", "actor", "from", "to")
	var since time.Time
	for _, r := range records {
		at := r.GetTime().AsTime()
		for _, e := range wire.ToEvents(r.GetCommit()) {
			when, actor := at.Format("15:04:05.000"), r.GetCommit().GetActor()
			switch e := e.(type) {
			case instance.Opened:
				table.Row(r.GetSeq(), when, "", e.State, "", actor, "opened")
				since = at
			case instance.Moved:
				table.Row(r.GetSeq(), when, e.From, e.To, narrator.Duration(at.Sub(since)), actor, e.Reason)
				since = at
			}
		}
	}
	return table.Print()
}
