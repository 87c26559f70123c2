package demo

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/engine/attestation"
	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/services/signalbox/allinone"
	"github.com/signalbox/signalbox/services/signalbox/narrator"
	"github.com/signalbox/signalbox/services/signalbox/verify"
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

// verify verifies the attestation of the clone's commit, with nothing but the clone and the public key.
func (s *story) verify(ctx context.Context, system *allinone.System, clone string) error {
	key := attestation.PublicFile(allinone.KeyFile(s.dir))
	s.n.Title("In the same clone: signalbox verify HEAD --require shown --key %s", key)
	if _, err := git.New(clone).WithToken(system.Forge.URL, system.Forge.Secret).Run(ctx, "fetch", "-q", "origin",
		"+"+attestation.Refs+"*:"+attestation.Refs+"*"); err != nil {
		return errors.Join(ErrNotProven, err)
	}
	var said strings.Builder
	env := *s.env
	env.Stdout, env.JSON = &said, false
	err := verify.Command{Commit: "HEAD", Repository: clone, Key: key, Require: []string{"shown"}}.Run(ctx, &env)
	s.n.Say("%s", strings.TrimSpace(said.String()))
	if err != nil {
		return fmt.Errorf("%w: signalbox verify HEAD: %w", ErrNotProven, err)
	}
	return nil
}
