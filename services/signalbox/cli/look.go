package cli

import (
	"context"
	"fmt"
	"math"

	"github.com/signalbox/signalbox/pkg/task"
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
	Overdue  bool   `name:"overdue" env:"-" help:"Only those that are in a state for longer than its timeout."`
	Escalate bool   `name:"escalated" env:"-" help:"Only those that an escalation to people holds."`
	Failing  int    `name:"failing" env:"-" placeholder:"N" help:"Only those with at least N failures in a row, in one state."`
	Worker   string `name:"worker" env:"-" placeholder:"ROLE" help:"Only those whose turn it is this role's."`
}

// Run lists instances.
func (c ls) Run(ctx context.Context, env *term.Env) error {
	return c.read(ctx, env, func(ctx context.Context, s reader) error {
		found, err := s.List(ctx, &pb.ListRequest{
			Workflow: c.Workflow, State: c.State, All: c.All, Stuck: c.Stuck, Waiting: c.Waiting,
			Overdue: c.Overdue, Escalated: c.Escalate, Failing: int32(min(c.Failing, math.MaxInt32)), Worker: c.Worker,
		})
		if err != nil {
			return err
		}
		if len(found) == 0 {
			if err := c.known(ctx, s); err != nil {
				return err
			}
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

type history struct {
	about
	Format string `name:"format" env:"-" enum:"events,task" default:"events" help:"events, or task: the events of the task lifecycle, one line of JSON each."`
}

// Run prints how an instance came to where it is.
func (c history) Run(ctx context.Context, env *term.Env) error {
	return c.read(ctx, env, func(ctx context.Context, s reader) error {
		commits, err := s.History(ctx, c.ID, 0)
		if err != nil {
			return err
		}
		if c.Format == "task" {
			for _, e := range task.Events(c.ID, view.Commits(commits)) {
				if err := env.Print(e); err != nil {
					return err
				}
			}
			return nil
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
