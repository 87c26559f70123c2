package cli

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/service"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

type lsCommand struct {
	reading
	Workflow string `arg:"" optional:"" help:"Only instances of this lifecycle."`
	State    string `name:"state" env:"-" help:"Only those in this state, closed ones too."`
	All      bool   `name:"all" env:"-" help:"Closed ones too."`
	Stuck    bool   `name:"stuck" env:"-" help:"Only those whose owner should work on them, and does not."`
	Waiting  bool   `name:"waiting" env:"-" help:"Only those that wait for a person."`
	Overdue  bool   `name:"overdue" env:"-" help:"Only those that are in a state for longer than its timeout."`
	Escalate bool   `name:"escalated" env:"-" help:"Only those that an escalation to people holds."`
	Failing  int    `name:"failing" env:"-" placeholder:"N" help:"Only those with at least N failures in a row, in one state."`
	Unproven bool   `name:"unproven" env:"-" help:"Only those whose change no test shows to be a solution."`
	Worker   string `name:"worker" env:"-" placeholder:"ROLE" help:"Only those whose turn it is this role's."`
}

// Run lists instances.
func (c lsCommand) Run(ctx context.Context, env *term.Env) error {
	return c.read(ctx, env, func(ctx context.Context, s reader) error {
		found, err := s.List(ctx, &pb.ListRequest{
			Workflow: c.Workflow, State: c.State, All: c.All, Stuck: c.Stuck, Waiting: c.Waiting,
			Overdue: c.Overdue, Escalated: c.Escalate, Failing: int32(min(c.Failing, math.MaxInt32)), Worker: c.Worker,
			Unproven: c.Unproven,
		})
		if err != nil {
			return err
		}
		if len(found) == 0 {
			if err := c.known(ctx, s); err != nil {
				return err
			}
			if c.State == "" && !c.All {
				fmt.Fprintln(env.Stderr, "no open instance found; --all lists those that have ended, too")
			}
		}
		return view.List(env, view.Sort(view.Summaries(found)))
	})
}

// known returns a usage error if no lifecycle has the name, the state or the role that
// was asked for. Run calls it when a list is empty.
func (c lsCommand) known(ctx context.Context, s reader) error {
	if c.Workflow == "" && c.State == "" && c.Worker == "" {
		return nil
	}
	defs, err := s.Definitions(ctx)
	if err != nil {
		return err
	}
	var names, states, roles []string
	for _, d := range defs {
		names = append(names, d.Name)
		if c.Workflow == "" || c.Workflow == d.Name {
			states, roles = append(states, d.StateNames()...), append(roles, d.Roles()...)
		}
	}
	if c.Workflow != "" && !slices.Contains(names, c.Workflow) {
		hint := ""
		if near := workflow.Nearest(c.Workflow, names); near != "" {
			hint = fmt.Sprintf("; did you mean %q?", near)
		}
		return service.Usagef("unknown workflow %q%s", c.Workflow, hint)
	}
	return cmp.Or(oneOf("--state", c.State, states), oneOf("--worker", c.Worker, roles))
}

// oneOf returns a usage error unless name is empty or in there.
func oneOf(what, name string, there []string) error {
	if name == "" || slices.Contains(there, name) {
		return nil
	}
	return service.Usagef("%s %s: no lifecycle here has it%s", what, name, orMeant(name, there))
}
