package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/workflow"
)

// known tells a list that is empty from a name that is misspelt: what ls was asked
// for has to be in one of the lifecycles there are.
func (c ls) known(ctx context.Context, s reader) error {
	if c.Data != "" || c.Workflow == "" && c.State == "" && c.Worker == "" {
		return nil // a stopped log does not say which lifecycles there are
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

func oneOf(flag, name string, there []string) error {
	if name == "" || slices.Contains(there, name) {
		return nil
	}
	if meant := workflow.Nearest(name, there); meant != "" {
		return service.Usagef("--%s %s: no lifecycle here has it; did you mean %s?", flag, name, meant)
	}
	return service.Usagef("--%s %s: no lifecycle here has it", flag, name)
}
