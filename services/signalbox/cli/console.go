package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/service"
	console "github.com/signalbox/signalbox/services/console/app"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// consoleGroup has the commands of the console.
type consoleGroup struct {
	Serve consoleCommand `cmd:"" default:"withargs" help:"Serve the pages, until interrupted. It is what console does by itself."`
	Login consoleLogin   `cmd:"" help:"Print a link that signs a browser in to the running console, once, as the person whose key this is."`
}

type consoleLogin struct{ running }

// Run asks the running console for a link.
func (c consoleLogin) Run(ctx context.Context, env *term.Env) error {
	s, err := c.connect(ctx, env)
	if err != nil {
		return err
	}
	defer s.nats.Close()
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	m, err := s.nats.RequestWithContext(ctx, subject.SignIn, nil)
	if errors.Is(err, nats.ErrNoResponders) || errors.Is(err, context.DeadlineExceeded) {
		return errNoConsole
	}
	var reply console.Login
	if err == nil {
		err = json.Unmarshal(m.Data, &reply)
	}
	switch {
	case err != nil:
		return fmt.Errorf("ask the console for a link: %w", err)
	case reply.Refused != "":
		return fmt.Errorf("the console gives no link: %s", reply.Refused)
	case env.JSON:
		return env.Print(reply)
	}
	fmt.Fprintln(env.Stdout, reply.Link)
	fmt.Fprintln(env.Stderr, "It signs one browser in, once, within an hour.")
	return nil
}

// errNoConsole means that no console gives links to this person.
var errNoConsole = errors.New("no console answers: one that runs with its own key (console.nk of signalbox auth init) gives links to people, " +
	"and that of `signalbox up` to the user who started it; other consoles keep links in their --link-file")

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
			if link := made.SignInLink(); link != "" {
				fmt.Fprintf(env.Stderr, "console  %s (signs in once)\n", link)
			} else {
				fmt.Fprintf(env.Stderr, "console  %s (signalbox console login prints a link that signs in)\n", made.URL)
			}
			if c.LinkFile != "" {
				fmt.Fprintf(env.Stderr, "next     the next link is in %s\n", c.LinkFile)
			}
			return nil
		},
	})
}
