package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/backup"
	store "github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

type backupCommand struct {
	logFlags
	Dir    string `arg:"" name:"dir" type:"path" help:"The backup; it is made if there is none."`
	Stream string `name:"stream" env:"-" placeholder:"NAME" help:"Back up this mirror of the log instead."`
	Seal   string `name:"seal" env:"-" type:"existingfile" placeholder:"FILE" help:"Keep this seal of the log in the backup. The log has to fit it."`
	Verify bool   `name:"verify" env:"-" help:"Only check the backup that is there, without any server."`
	dailyFlags
}

// Help returns the details.
func (backupCommand) Help() string {
	return `The log, the lifecycles, the bundles and the gateway's cursors are written to DIR. If DIR holds a backup of the same log
already, what came since is added to it. Every commit is held against its instance's chain, and all that was there before
is checked first; a damaged log is refused, and the backup stays as it was. The system may go on meanwhile.
With --keep, DIR has a backup of each day. Days are removed only after today's is whole.`
}

// Run writes a backup, or checks one.
func (c backupCommand) Run(ctx context.Context, env *term.Env) error {
	if c.Verify {
		if c.Data != "" {
			return service.Usagef("--verify reads nothing but the backup: it goes without --data")
		}
		m, err := backup.Verify(c.Dir)
		if err != nil {
			return err
		}
		return view.Kept(env, c.Dir, m, "whole")
	}
	if err := c.dailyFlags.check(); err != nil {
		return err
	}
	switch {
	case c.Fresh != 0:
		return c.fresh(env)
	case c.Keep != 0:
		return c.daily(ctx, env)
	}
	if err := c.take(ctx, env); err != nil || !c.Rehearse {
		return err
	}
	return rehearse(ctx, env, c.Dir, filepath.Dir(c.Dir))
}

// take adds what is new to the backup.
func (c backupCommand) take(ctx context.Context, env *term.Env) error {
	return c.openLog(ctx, env, func(ctx context.Context, at logSource) error {
		log, err := store.OpenAuditReader(ctx, at.js, c.Stream, store.Config{Watermark: at.watermark})
		if err != nil {
			return fmt.Errorf("the log at %s: %w", at.at, err)
		}
		var seal []byte
		if c.Seal != "" {
			if seal, err = os.ReadFile(c.Seal); err != nil {
				return err
			}
		}
		made, err := backup.Take(ctx, at.js, log, c.Dir, seal, env.Now())
		if errors.Is(err, eventstore.ErrCorrupt) {
			return fmt.Errorf("%w; nothing was added to the backup, and `signalbox audit` shows more", err)
		}
		if err != nil {
			return err
		}
		added := "nothing new"
		if made.From <= made.Last {
			added = fmt.Sprintf("new are the sequences %d to %d", made.From, made.Last)
		}
		return view.Kept(env, c.Dir, made.Manifest, added)
	})
}
