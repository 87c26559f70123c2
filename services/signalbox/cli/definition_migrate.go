package cli

import (
	"context"

	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

// definitionMigrate is the only command about definitions that changes an instance.
type definitionMigrate struct {
	instanceReason
	To string `name:"to" env:"-" placeholder:"HASH" help:"Content hash of the definition to go on under; the newest of its lifecycle by default."`
}

// Run migrates the instance to another definition.
func (c definitionMigrate) Run(ctx context.Context, env *term.Env) error {
	return c.call(ctx, env, func(ctx context.Context, s system) error {
		reply, err := s.Migrate(ctx, c.ID, c.To, c.reason(env))
		if err != nil {
			return err
		}
		in := view.Of(reply.GetInstance())
		return printResult(env, in, "goes on in "+in.State+" under definition "+in.Definition)
	})
}
