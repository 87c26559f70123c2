package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/nats-io/nats.go/jetstream"

	store "github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/service/access"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

// deadCommands has the commands about dead letters.
type deadCommands struct {
	Ls    deadLs    `cmd:"" help:"List the work that was given up on, oldest first."`
	Show  deadShow  `cmd:"" help:"Show one dead letter, and where its instance is now."`
	Retry deadRetry `cmd:"" help:"Give the work out once more, and remove the letter. The instance's history has it."`
	Drop  deadDrop  `cmd:"" help:"Remove a letter whose work needs nothing more. The instance's history has it."`
}

type deadLs struct{ running }

// Run lists the dead letters.
func (c deadLs) Run(ctx context.Context, env *term.Env) error {
	return c.call(ctx, env, func(ctx context.Context, s system) error {
		_, letters, err := s.letters(ctx)
		if err != nil {
			return err
		}
		all := make([]view.Dead, 0, len(letters))
		for _, l := range letters {
			one, err := s.dead(ctx, l)
			if err != nil {
				return err
			}
			all = append(all, one)
		}
		return view.DeadLetters(env, all)
	})
}

// deadArg has the flags of a command about one dead letter.
type deadArg struct {
	running
	Number uint64 `arg:"" name:"number" help:"The letter, as dead ls has it."`
}

// on calls f with the letter.
func (c deadArg) on(ctx context.Context, env *term.Env, f func(context.Context, system, jetstream.JetStream, view.Dead) error) error {
	return c.call(ctx, env, func(ctx context.Context, s system) error {
		js, letters, err := s.letters(ctx)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(letters, func(l store.DeadLetter) bool { return l.Number == c.Number })
		if i < 0 {
			return fmt.Errorf("there is no dead letter %d; signalbox dead ls lists them", c.Number)
		}
		one, err := s.dead(ctx, letters[i])
		if err != nil {
			return err
		}
		return f(ctx, s, js, one)
	})
}

type deadShow struct{ deadArg }

// Run shows a dead letter.
func (c deadShow) Run(ctx context.Context, env *term.Env) error {
	return c.on(ctx, env, func(_ context.Context, _ system, _ jetstream.JetStream, d view.Dead) error {
		return view.DeadLetter(env, d)
	})
}

type deadRetry struct {
	deadArg
	Reason string `name:"reason" short:"r" env:"-" help:"Why, for the log."`
}

// Run dispatches the work once more. The letter goes after that, so that none is lost in between.
func (c deadRetry) Run(ctx context.Context, env *term.Env) error {
	return c.on(ctx, env, func(ctx context.Context, s system, js jetstream.JetStream, d view.Dead) error {
		if !d.Waits {
			return fmt.Errorf("its work is not waited for any more: %s; signalbox dead drop %d removes the letter", d.Now, d.Number)
		}
		cmd := &pb.Command{Instance: d.Instance, Action: &pb.Command_Retry{Retry: &pb.Retry{Reason: d.Act("retried", c.Reason)}}}
		reply, err := s.Do(ctx, subject.Retry, cmd)
		if err != nil {
			return err
		}
		if err := store.DropDeadLetter(ctx, js, d.Number); err != nil {
			return fmt.Errorf("the work is given out, and the letter is still there (drop it): %w", err)
		}
		in := view.Of(reply.GetInstance())
		return printResult(env, in, fmt.Sprintf("%s is given the work of %s once more", in.Owner, in.State))
	})
}

type deadDrop struct {
	deadArg
	Reason string `name:"reason" short:"r" required:"" env:"-" help:"Why, for the log."`
}

// Run notes the act with the instance, then removes the letter.
func (c deadDrop) Run(ctx context.Context, env *term.Env) error {
	return c.on(ctx, env, func(ctx context.Context, s system, js jetstream.JetStream, d view.Dead) error {
		if d.Instance != "" {
			if _, err := s.Note(ctx, d.Instance, "dead letter", d.Act("dropped", c.Reason)); err != nil {
				return err
			}
		}
		if err := store.DropDeadLetter(ctx, js, d.Number); err != nil {
			return err
		}
		d.Dropped = true
		return view.DeadLetter(env, d)
	})
}

// letters returns the dead letters, and the JetStream that they are in.
func (s system) letters(ctx context.Context) (jetstream.JetStream, []store.DeadLetter, error) {
	js, err := access.JetStream(ctx, s.nats)
	if err != nil {
		return nil, nil, err
	}
	all, err := store.DeadLetters(ctx, js, store.MaxLetters)
	return js, all, err
}

// dead returns a letter with where its instance is now.
func (s system) dead(ctx context.Context, l store.DeadLetter) (view.Dead, error) {
	if l.Event.Instance == "" {
		return view.DeadOf(l, nil), nil
	}
	in, err := s.Get(ctx, l.Event.Instance)
	if err != nil {
		return view.Dead{}, err
	}
	return view.DeadOf(l, in), nil
}
