package cli

import (
	"context"
	"strings"

	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// signalCommand sends a signal of any name.
type signalCommand struct {
	instanceArg
	Name string   `arg:"" help:"Name of the event, as the lifecycle has it under on."`
	Data []string `arg:"" optional:"" name:"key=value" help:"Data of it for guards; body=TEXT is kept as a note."`
}

// Run sends the signal.
func (c signalCommand) Run(ctx context.Context, env *term.Env) error {
	data := map[string]string{}
	for _, pair := range c.Data {
		key, value, found := strings.Cut(pair, "=")
		if !found || key == "" {
			return service.Usagef("%q: want KEY=VALUE", pair)
		}
		data[key] = value
	}
	return c.sendSignal(ctx, env, c.Name, data)
}
