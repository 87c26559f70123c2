package cli

import (
	"context"

	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

type showCommand struct{ readingOne }

// Run prints one instance.
func (c showCommand) Run(ctx context.Context, env *term.Env) error {
	return c.readOne(ctx, env, &c.ID, func(ctx context.Context, s reader) error {
		in, err := s.Get(ctx, c.ID)
		if err != nil {
			return err
		}
		one, err := rested(ctx, env, s, in)
		if err != nil {
			return err
		}
		return view.Page(env, one)
	})
}
