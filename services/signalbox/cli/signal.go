package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/nats-io/nuid"

	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

// signal tells an instance something from outside, by name.
type signal struct {
	one
	Name string   `arg:"" help:"What happened, as the lifecycle names it under on."`
	Data []string `arg:"" optional:"" name:"key=value" help:"What guards may read of it; body=TEXT is kept as a note."`
}

// Run sends the signal.
func (c signal) Run(ctx context.Context, env *term.Env) error {
	data := map[string]string{}
	for _, pair := range c.Data {
		key, value, found := strings.Cut(pair, "=")
		if !found || key == "" {
			return service.Usagef("%q: want KEY=VALUE", pair)
		}
		data[key] = value
	}
	return c.send(ctx, env, c.Name, data)
}

// send signals as the person at this machine.
func (c one) send(ctx context.Context, env *term.Env, name string, data map[string]string) error {
	data["operator"] = "true"
	return c.ask(ctx, env, func(ctx context.Context, s system) error {
		before, err := s.Get(ctx, c.ID)
		if err != nil {
			return err
		}
		reply, err := s.Signal(ctx, c.ID, name, nuid.Next(), env.User, data)
		if err != nil {
			return err
		}
		in := view.Of(reply.GetInstance())
		if in.State == before.GetState() && in.Iteration == int(before.GetIteration()) {
			return done(env, in, fmt.Sprintf("%s is kept; it stays in %s", name, in.State))
		}
		return done(env, in, "now in "+in.State)
	})
}

// approve is the signal that people give most.
type approve struct {
	one
	Text string `name:"message" short:"m" env:"-" help:"What there is to say with it."`
}

// Run approves what the instance waits with.
func (c approve) Run(ctx context.Context, env *term.Env) error {
	data := map[string]string{}
	if c.Text != "" {
		data["body"] = c.Text
	}
	return c.send(ctx, env, "approved", data)
}
