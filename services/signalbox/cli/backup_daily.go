package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/eventstore/backup"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/service/embedded"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// dailyFlags are of a directory with a backup of each day.
type dailyFlags struct {
	Keep     int           `name:"keep" env:"-" placeholder:"DAYS" help:"DIR has a backup of each day, and the newest so many stay."`
	Every    time.Duration `name:"every" env:"-" placeholder:"TIME" help:"Repeat this often, until it is stopped; a failure is printed. Needs --keep."`
	Rehearse bool          `name:"rehearse" env:"-" help:"Restore the backup into a scratch server next to it, and audit that."`
	Fresh    time.Duration `name:"fresh" env:"-" placeholder:"TIME" help:"Only check that DIR, of --keep, has a whole backup that is younger."`
}

func (f dailyFlags) check() error {
	if f.Keep < 0 || f.Every < 0 || f.Fresh < 0 || f.Every > 0 && f.Keep == 0 {
		return service.Usagef("--keep %d --every %v --fresh %v: want none below 0, and --every with the days to --keep", f.Keep, f.Every, f.Fresh)
	}
	return nil
}

// newest is a file of a directory of days: the time when the newest whole backup was made.
const newest = "newest"

// fresh returns an error unless the newest whole backup is young enough.
func (c backupCommand) fresh(env *term.Env) error {
	text, err := os.ReadFile(filepath.Join(c.Dir, newest))
	if err != nil {
		return fmt.Errorf("%s has no whole backup of a day yet: %w", c.Dir, err)
	}
	made, err := time.Parse(time.RFC3339, strings.TrimSpace(string(text)))
	if age := env.Now().Sub(made).Round(time.Second); err == nil && age > c.Fresh {
		err = fmt.Errorf("the newest whole backup in %s is %v old, and may be %v: read the log of what makes it", c.Dir, age, c.Fresh)
	}
	return err
}

// daily makes the backup of the day, once or again and again.
func (c backupCommand) daily(ctx context.Context, env *term.Env) error {
	for {
		err := c.day(ctx, env)
		switch {
		case c.Every == 0:
			return err
		case ctx.Err() != nil: // it was stopped
			return nil
		}
		if err != nil {
			fmt.Fprintf(env.Stderr, "%s no whole backup: %v; the next try is in %v\n", env.Now().UTC().Format(time.RFC3339), err, c.Every)
		}
		select {
		case <-time.After(c.Every):
		case <-ctx.Done():
			return nil
		}
	}
}

// day adds to today's backup and checks it. Old days are removed if it is whole.
func (c backupCommand) day(ctx context.Context, env *term.Env) error {
	made := env.Now().UTC()
	today := c
	today.Dir = filepath.Join(c.Dir, made.Format(time.DateOnly))
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return err
	}
	if err := today.take(ctx, env); err != nil {
		return err
	}
	if c.Rehearse {
		if err := rehearse(ctx, env, today.Dir, c.Dir); err != nil {
			return fmt.Errorf("the rehearsal of a restore: %w", err)
		}
	} else if _, err := backup.Verify(today.Dir); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(c.Dir, newest), []byte(made.Format(time.RFC3339)+"\n"), 0o600); err != nil {
		return err
	}
	return c.removeOld(env)
}

// removeOld removes all days but the newest. Anything else in the directory is left alone.
func (c backupCommand) removeOld(env *term.Env) error {
	entries, err := os.ReadDir(c.Dir)
	if err != nil {
		return err
	}
	var days []string // oldest first
	for _, e := range entries {
		if _, err := time.Parse(time.DateOnly, e.Name()); err == nil && e.IsDir() {
			days = append(days, e.Name())
		}
	}
	slices.Sort(days)
	for _, day := range days[:max(0, len(days)-c.Keep)] {
		if err := os.RemoveAll(filepath.Join(c.Dir, day)); err != nil {
			return err
		}
		fmt.Fprintln(env.Stderr, "removed", filepath.Join(c.Dir, day))
	}
	return nil
}

// rehearse restores a backup into a scratch server below a directory, and audits the log there.
func rehearse(ctx context.Context, env *term.Env, dir, below string) (err error) {
	scratch, err := os.MkdirTemp(below, ".rehearsal-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	watermark := filepath.Join(scratch, "watermark")
	quiet := service.Logging{Level: "error", Format: env.Logging.Format}.Logger(env.Stderr)
	return withServer(filepath.Join(scratch, "log"), embedded.Config{Sync: time.Minute, Log: quiet}, func(js jetstream.JetStream) error {
		restore := restoreCommand{Dir: dir, Watermark: watermark, Replicas: 1}
		if err := restore.restore(ctx, env, js); err != nil {
			return err
		}
		return auditCommand{}.auditLog(ctx, env, logSource{js: js, watermark: watermark, at: "the rehearsal"})
	})
}
