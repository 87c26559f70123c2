package cli

import (
	"context"

	"github.com/signalbox/signalbox/services/signalbox/term"
)

// approveCommand sends the signal approved.
type approveCommand struct {
	instanceArg
	Text string `name:"message" short:"m" env:"-" help:"Comment on the approval."`
}

// Run sends the signal.
func (c approveCommand) Run(ctx context.Context, env *term.Env) error {
	data := map[string]string{}
	if c.Text != "" {
		data["body"] = c.Text
	}
	return c.sendSignal(ctx, env, "approved", data)
}
