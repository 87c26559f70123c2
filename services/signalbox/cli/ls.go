package cli

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/workflow"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

type lsCommand struct {
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
func (c lsCommand) Run(ctx context.Context, env *term.Env) error {
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
		return view.List(env, view.Sort(view.Summaries(found)))
	})
}

// known returns a usage error if no lifecycle has the state or the role that was asked
// for. Run calls it when a list is empty.
func (c lsCommand) known(ctx context.Context, s reader) error {
	if c.Data != "" || c.Workflow == "" && c.State == "" && c.Worker == "" {
		return nil // a stopped log has no list of lifecycles
	}
	names := []string{c.Workflow}
	if c.Workflow == "" {
		reply, err := s.Definition(ctx, "")
		if err != nil {
			return err
		}
		names = reply.GetNames()
	}
	var states, roles []string
	for _, name := range names {
		reply, err := s.Definition(ctx, name)
		if err != nil {
			return err
		}
		def, err := workflow.Load(name, reply.GetSource())
		if err != nil {
			return fmt.Errorf("the definition of %s: %w", name, err)
		}
		states, roles = append(states, def.StateNames()...), append(roles, def.Roles()...)
	}
	if err := oneOf("state", c.State, states); err != nil {
		return err
	}
	return oneOf("worker", c.Worker, roles)
}

// oneOf returns a usage error unless name is empty or in there.
func oneOf(flag, name string, there []string) error {
	if name == "" || slices.Contains(there, name) {
		return nil
	}
	if meant := workflow.Nearest(name, there); meant != "" {
		return service.Usagef("--%s %s: no lifecycle here has it; did you mean %s?", flag, name, meant)
	}
	return service.Usagef("--%s %s: no lifecycle here has it", flag, name)
}
