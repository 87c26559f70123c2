package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	store "github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/whatif"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

type whatifCommand struct {
	logFlags
	Stream     string            `name:"stream" env:"-" placeholder:"NAME" help:"Read this stream instead, such as a mirror of the log."`
	Policy     map[string]string `name:"policy" env:"-" placeholder:"NAME=VALUE" help:"Decide with this value of a policy. May be repeated."`
	Definition string            `name:"definition" env:"-" type:"existingfile" placeholder:"FILE" help:"Decide the instances of its lifecycle by this definition."`
	Instance   string            `name:"instance" env:"-" placeholder:"ID" help:"Only this instance."`
	Since      time.Duration     `name:"since" env:"-" placeholder:"TIME" help:"Only instances that were opened within this time, such as 24h or 7d."`
}

// Help returns the details.
func (whatifCommand) Help() string {
	return `Each instance is decided again from its first commit, with the results, answers and signals that the log has, until a
decision differs. The line of an instance has that commit, where the log went, where the other rules go, and the moves,
steps, questions, cost and time that the log has after it. Nothing is guessed: nobody knows the result of work that was
not done, nor an answer that was not given. Limits of work under way and budgets of a day are not decided again. Nothing
is changed, and the system may run.`
}

// Run decides a whole log again and prints what would have been decided otherwise.
func (c whatifCommand) Run(ctx context.Context, env *term.Env) error {
	change, err := c.change()
	if err != nil {
		return err
	}
	return c.openLog(ctx, env, func(ctx context.Context, at logSource) error {
		start := env.Now()
		log, err := store.OpenAuditReader(ctx, at.js, c.Stream, store.Config{Watermark: at.watermark})
		if err != nil {
			return fmt.Errorf("the log at %s: %w", at.at, err)
		}
		known, err := newDefinitions(ctx, at.js)
		if err != nil {
			return err
		}
		ended, err := newShelf()
		if err != nil {
			return fmt.Errorf("a file for instances that have ended: %w", err)
		}
		defer ended.remove()
		collectSeldom()
		again := whatif.Start(runtime.GOMAXPROCS(0), change.Alter, known.find, ended)
		shown := showProgress(env, "decided", log.Last)
		err = log.Read(ctx, 1, func(m store.Message) error {
			shown.at(m.Seq)
			commit, err := m.Commit()
			if err == nil && (c.Instance == "" || commit.Instance == c.Instance) {
				again.Add(commit)
			}
			return nil // audit names the messages that are no commits
		})
		shown.end()
		cases := again.End()
		if c.Since > 0 {
			cases = slices.DeleteFunc(cases, func(one whatif.Case) bool { return one.Opened.Before(start.Add(-c.Since)) })
		}
		if err = errors.Join(err, known.err); err == nil {
			err = cmp.Or(c.found(cases), unused(change))
		}
		if err != nil {
			return err
		}
		return view.NewWhatIf(cases, env.Now().Sub(start)).Print(env)
	})
}

// found returns an error if the one instance that was asked for is not in the log.
func (c whatifCommand) found(cases []whatif.Case) error {
	if c.Instance == "" || len(cases) > 0 {
		return nil
	}
	return fmt.Errorf("the log has no instance %s", c.Instance)
}

// change reads the flags.
func (c whatifCommand) change() (*whatif.Change, error) {
	if c.Definition == "" {
		if len(c.Policy) == 0 {
			return nil, service.Usagef("name other rules: --policy NAME=VALUE, or --definition FILE")
		}
		return whatif.NewChange(c.Policy, nil)
	}
	def, err := (sources{}).load(c.Definition)
	if err != nil {
		return nil, err
	}
	return whatif.NewChange(c.Policy, def)
}

// unused returns the values that fit no lifecycle as a mistake in the flags.
func unused(change *whatif.Change) error {
	if err := change.Unused(); err != nil {
		return service.Usagef("%w", err)
	}
	return nil
}
