// Package cli is the command line. Each command is in the file of its name.
package cli

import (
	"context"
	"errors"
	"io"

	"github.com/alecthomas/kong"

	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

const purpose = "Takes issues from report to pull request, one state and one agent at a time."

// Run runs one command line, or prints help without one, and returns the exit code, one
// of those of package service.
func Run(ctx context.Context, env term.Env, args []string) int {
	var g grammar
	args, help := asHelp(args)
	call := service.Call{Name: "signalbox", About: purpose, Args: args, Stdout: env.Stdout, Stderr: env.Stderr}
	parsed, err := service.Parse(&g, call, groups(), kong.Help(help))
	if wrong := (*kong.ParseError)(nil); errors.As(err, &wrong) {
		parsed = wrong.Context
	}
	if parsed != nil && parsed.Selected() != nil {
		call.Help = "signalbox " + commandPath(parsed.Selected()) + " --help"
	}
	if err != nil {
		return call.Exit(err)
	}
	ctx, stop := service.NotifyContext(ctx)
	defer stop()
	out := &sticky{Writer: env.Stdout}
	env.Stdout = out
	env.JSON, env.NATS, env.Logging = g.JSON, g.NATS, g.Logging
	env.Log = g.Logging.Logger(env.Stderr)
	parsed.BindTo(ctx, (*context.Context)(nil))
	err = parsed.Run(&env)
	if code := service.ExitCode(err); out.err != nil && (code == service.ExitDone || code == service.ExitWaits) {
		err = out.err
	}
	return call.Exit(err)
}

func groups() kong.Option {
	return kong.ExplicitGroups([]kong.Group{
		{Key: "Here", Title: "Run it here:"},
		{Key: "Running", Title: "A running system:"},
		{Key: "The log", Title: "The log as evidence:"},
		{Key: "Lifecycles", Title: "Lifecycles:"},
		{Key: "This program", Title: "This program:"},
	})
}

// sticky keeps the first error of Write. Run returns it, so that commands do not have
// to check each line they print.
type sticky struct {
	io.Writer
	err error
}

func (s *sticky) Write(p []byte) (int, error) {
	n, err := s.Writer.Write(p)
	if s.err == nil {
		s.err = err
	}
	return n, err
}
