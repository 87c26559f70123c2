package cli

import (
	"context"
	"fmt"

	"github.com/signalbox/signalbox/pkg/workflow"
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
		if err != nil {
			return err
		}
		def, err := workflow.Load(in.GetWorkflow(), reply.GetSource())
		if err != nil {
			return fmt.Errorf("the definition of %s: %w", c.ID, err)
		}
		return view.Explain(env, def, one).Print(env, c.Rules)
	})
}
