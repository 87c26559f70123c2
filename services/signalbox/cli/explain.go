package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/service/access"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

type explainCommand struct {
	readingOne
	Rules bool `name:"rules" env:"-" help:"Print the guards of the rules, too, and the values that they read."`
}

// Run prints why an instance does not move and what would move it.
func (c explainCommand) Run(ctx context.Context, env *term.Env) error {
	return c.readOne(ctx, env, &c.ID, func(ctx context.Context, s reader) error {
		in, err := s.Get(ctx, c.ID)
		if err != nil {
			return err
		}
		one, err := rested(ctx, env, s, in)
		if err != nil {
			return err
		}
		reply, err := s.Definition(ctx, in.GetDefinition())
		if no := new(instance.Refusal); errors.As(err, &no) {
			return fmt.Errorf("%s waits: the orchestrator cannot load its definition %.12s (%s); run the version of Signalbox that stored it, or a newer one",
				c.ID, in.GetDefinition(), no.What)
		}
		if err != nil {
			return err
		}
		def, err := workflow.Load(in.GetWorkflow(), reply.GetSource())
		if err != nil {
			return fmt.Errorf("the definition of %s: %w", c.ID, err)
		}
		e := view.Explain(env, def, one)
		if running, ok := s.(system); ok {
			e.Why = strings.Replace(e.Why, view.NoneOrBusy(one.Worker), noneOrBusy(ctx, running, one.Worker), 1)
		}
		return e.Print(env, c.Rules)
	})
}

// noneOrBusy names the case: no agent of the role runs, or all have other work. It says both
// where the queue cannot be read.
func noneOrBusy(ctx context.Context, s system, role string) string {
	both := view.NoneOrBusy(role)
	if role == "" {
		return both
	}
	js, err := access.JetStream(ctx, s.nats)
	if err != nil {
		return both
	}
	consumer, err := js.Consumer(ctx, subject.EventStream, role)
	if err != nil {
		return both
	}
	info := consumer.CachedInfo()
	direct, err := s.direct(ctx, role)
	busy := info.NumAckPending > 0 || direct > 0
	switch {
	case err != nil:
		return both
	case info.NumWaiting == 0 && !busy:
		return fmt.Sprintf("no %s runs: start one, or give it a brain", role)
	case info.NumWaiting == 0:
		return fmt.Sprintf("each %s that runs has other work", role)
	}
	return both
}

// direct returns how many pieces of work agents of a role hold now. Work that was given
// directly is in no queue.
func (s system) direct(ctx context.Context, role string) (n int, err error) {
	all, err := s.List(ctx, &pb.ListRequest{})
	for _, one := range all {
		worker := cmp.Or(one.GetWorker(), one.GetOwner())
		if worker == role && one.GetAgent() != "" && one.GetLease().AsTime().After(time.Now()) {
			n++
		}
	}
	return n, err
}
