package cli

import (
	"context"
	"fmt"

	"github.com/signalbox/signalbox/pkg/service"
	console "github.com/signalbox/signalbox/services/console/app"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

type consoleCommand struct {
	console.Settings
	HTTP string `name:"http" placeholder:"HOST:PORT" default:"127.0.0.1:0" help:"Where /metrics, /healthz and /readyz are served; ${default} by default."`
}

// Run serves the console until ctx ends.
func (c consoleCommand) Run(ctx context.Context, env *term.Env) error {
	log := env.Log
	return service.Serve(ctx, service.Config{
		Service: "console", Log: log, Flags: service.Flags{NATS: env.NATS, Logging: env.Logging, HTTP: c.HTTP},
		Setup: func(ctx context.Context, h *service.Host) error {
			made, err := c.Setup(ctx, h, env.User)
			if err != nil {
				return err
			}
			fmt.Fprintf(env.Stderr, "console  %s (signs in once)\n", made.SignInLink())
			if c.LinkFile != "" {
				fmt.Fprintf(env.Stderr, "next     the next link is in %s\n", c.LinkFile)
			}
			return nil
		},
	})
}
