// Package serve is the command `signalbox agent`: one role of any lifecycle in a
// process of its own.
package serve

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/pipelinerole"
	"github.com/signalbox/signalbox/pkg/agent/role"
	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// Command is `signalbox agent`.
type Command struct {
	Role string `name:"role" required:"" env:"-" placeholder:"ROLE" help:"The role to serve, as the lifecycles spell it."`
	role.Settings
	HTTP  string        `name:"http" placeholder:"HOST:PORT" default:"127.0.0.1:0" help:"Where /metrics, /healthz and /readyz are served; ${default} by default."`
	Grace time.Duration `name:"grace" default:"30s" help:"How long work under way may take to end after Ctrl-C."`
}

// Run serves the role until ctx ends.
func (c Command) Run(ctx context.Context, env *term.Env) error {
	return service.Serve(ctx, service.Config{
		Service: c.Role, Log: env.Log, Flags: service.Flags{NATS: env.NATS, Logging: env.Logging, HTTP: c.HTTP, Grace: c.Grace},
		Setup: func(ctx context.Context, h *service.Host) error {
			if err := c.known(ctx, h); err != nil {
				return err
			}
			c.Document = pipelinerole.Document{}
			return c.Setup(ctx, h, c.Role)
		},
	})
}

// known returns a usage error for a role that no lifecycle of the running system has.
// Such an agent would never get work.
func (c Command) known(ctx context.Context, h *service.Host) error {
	all, err := client.New(h.NATS, h.Name).Definitions(ctx)
	if err != nil {
		return err
	}
	var roles []string
	for _, d := range all {
		roles = append(roles, d.Roles()...)
	}
	slices.Sort(roles)
	if !slices.Contains(roles, c.Role) {
		hint := ""
		if meant := workflow.Nearest(c.Role, roles); meant != "" {
			hint = "did you mean " + meant + "? "
		}
		return service.Usagef("--role %s: no lifecycle here has it; %swant one of %s", c.Role, hint, strings.Join(slices.Compact(roles), ", "))
	}
	return nil
}
