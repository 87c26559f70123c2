package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/eventstore/backup"
	store "github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/service/access"
	"github.com/signalbox/signalbox/pkg/service/embedded"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

type restoreCommand struct {
	running
	Dir       string `arg:"" name:"dir" type:"existingdir" help:"The backup."`
	Data      string `name:"data" env:"-" type:"path" placeholder:"DIR" help:"Make a directory for up from it, instead of filling a running server."`
	Watermark string `name:"watermark" type:"path" placeholder:"FILE" help:"The orchestrator's --watermark: it is set to the restored log."`
	Replicas  int    `name:"replicas" default:"1" help:"Copies of the log in a NATS cluster."`
	Lossy     bool   `name:"accept-loss" env:"-" help:"Restore although the watermark knows of commits that the backup does not have."`
}

// Help returns the details.
func (restoreCommand) Help() string {
	return `All of the backup is checked before the first write. The server may have no log, or an empty one; no orchestrator may
run. The log gets the same commits at the same sequences and keeps its identity; the roles' queues go on where they were,
deadlines are set again from the log by the next orchestrator. Where NATS has accounts it takes the orchestrator's key. An orchestrator does not open a log that is half restored:
when this is interrupted, run it again, and it goes on.`
}

// Run makes a log from a backup.
func (c restoreCommand) Run(ctx context.Context, env *term.Env) error {
	if c.Data == "" {
		s, err := c.connect(ctx, env)
		if err != nil {
			return err
		}
		defer s.nats.Close()
		if orchestratorRuns(ctx, s.nats) {
			return fmt.Errorf("an orchestrator runs at %s: stop all of them, and the agents, first", s.at)
		}
		// The account of an administrator reaches JetStream, and does not append to the log.
		js, err := access.JetStreamAs(ctx, s.nats, access.Party{Kind: access.Orchestrator})
		if err != nil {
			return fmt.Errorf("restore appends to the log; nothing was written: %w", err)
		}
		return c.restore(ctx, env, js)
	}
	if err := os.MkdirAll(c.Data, 0o700); err != nil {
		return err
	}
	if c.Watermark == "" {
		c.Watermark = filepath.Join(c.Data, "watermark")
	}
	quiet := service.Logging{Level: "error", Format: env.Logging.Format}.Logger(env.Stderr)
	// It is flushed at the end. Until then no orchestrator takes it for a log.
	return withServer(filepath.Join(c.Data, "log"), embedded.Config{Sync: time.Second, Log: quiet}, func(js jetstream.JetStream) error {
		return c.restore(ctx, env, js)
	})
}

// restore restores the backup on a server and prints the result.
func (c restoreCommand) restore(ctx context.Context, env *term.Env, js jetstream.JetStream) error {
	r, err := backup.Restore(ctx, js, c.Dir, store.Config{Watermark: c.Watermark, Replicas: c.Replicas}, c.Lossy)
	switch {
	case errors.Is(err, store.ErrLoss):
		return fmt.Errorf("%w; take a newer backup, or accept the loss with --accept-loss", err)
	case errors.Is(err, backup.ErrDamaged):
		return fmt.Errorf("%w; nothing was written", err)
	case err != nil && r.Format != 0:
		return fmt.Errorf("%w; the log is half restored, and no orchestrator opens it: run this again, and it goes on", err)
	case err != nil:
		return err
	}
	how := "restored"
	if r.Found > 0 {
		how = fmt.Sprintf("restored; the first %d commits were there", r.Found)
	}
	return view.Kept(env, c.Dir, r.Manifest, how)
}

// orchestratorRuns reports whether an orchestrator answers within a second.
func orchestratorRuns(ctx context.Context, nc *nats.Conn) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	m, err := nc.RequestWithContext(ctx, "$SRV.PING.signalbox-orchestrator", nil)
	return err == nil && len(m.Data) > 0
}
