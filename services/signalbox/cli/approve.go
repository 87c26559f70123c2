package cli

import (
	"context"

	"github.com/signalbox/signalbox/services/signalbox/term"
)

// approve sends the signal approved.
type approve struct {
	instanceArg
	Text string `name:"message" short:"m" env:"-" help:"What there is to say with it."`
}

// Run sends the signal.
func (c approve) Run(ctx context.Context, env *term.Env) error {
	data := map[string]string{}
	if c.Text != "" {
		data["body"] = c.Text
	}
	return c.sendSignal(ctx, env, "approved", data)
}
