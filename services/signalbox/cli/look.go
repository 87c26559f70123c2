package cli

import (
	"context"
	"fmt"

	"github.com/signalbox/signalbox/pkg/workflow"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

type ls struct {
	reading
	Workflow string `arg:"" optional:"" help:"Only instances of this lifecycle."`
	State    string `name:"state" env:"-" help:"Only those in this state, closed ones too."`
	All      bool   `name:"all" env:"-" help:"Closed ones too."`
	Stuck    bool   `name:"stuck" env:"-" help:"Only those that nobody works on although somebody should."`
	Waiting  bool   `name:"waiting" env:"-" help:"Only those that wait for a person."`
}

// Run lists instances.
func (c ls) Run(ctx context.Context, env *term.Env) error {
	return c.read(ctx, env, func(ctx context.Context, s reader) error {
		found, err := s.List(ctx, &pb.ListRequest{Workflow: c.Workflow, State: c.State, All: c.All, Stuck: c.Stuck, Waiting: c.Waiting})
		if err != nil {
			return err
		}
		return view.List(env, view.Summaries(found))
	})
}

// about is a command that reads about one instance.
type about struct {
	reading
	ID string `arg:"" name:"id" help:"The instance."`
}

type show struct{ about }

// Run shows one instance.
func (c show) Run(ctx context.Context, env *term.Env) error {
	return c.read(ctx, env, func(ctx context.Context, s reader) error {
		in, err := s.Get(ctx, c.ID)
		if err != nil {
			return err
		}
		return view.Page(env, view.Of(in))
	})
}

type history struct{ about }

// Run prints how an instance came to where it is.
func (c history) Run(ctx context.Context, env *term.Env) error {
	return c.read(ctx, env, func(ctx context.Context, s reader) error {
		commits, err := s.History(ctx, c.ID, 0)
		if err != nil {
			return err
		}
		return view.Table(env, view.History(c.ID, commits))
	})
}

type explain struct{ about }

// Run says why an instance does not move and what would move it.
func (c explain) Run(ctx context.Context, env *term.Env) error {
	return c.read(ctx, env, func(ctx context.Context, s reader) error {
		in, err := s.Get(ctx, c.ID)
		if err != nil {
			return err
		}
		reply, err := s.Definition(ctx, in.GetDefinition())
		if err != nil {
			return err
		}
		def, err := workflow.Load(in.GetWorkflow(), reply.GetSource())
		if err != nil {
			return fmt.Errorf("the definition of %s: %w", c.ID, err)
		}
		return view.Explain(env, def, view.Of(in)).Print(env)
	})
}
