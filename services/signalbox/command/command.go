// Package command runs a program that has commands: signalbox, signalbox-bench, signalbox-eval.
package command

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// Flags has the flags that all commands have. The grammar of a program embeds it.
type Flags struct {
	JSON bool `name:"json" help:"Print JSON: one object, or one a line for lists and streams."`
	service.NATS
	service.Logging
	Config      kong.ConfigFlag  `name:"config" placeholder:"FILE" help:"YAML or JSON file of flag names and values. Flags and environment variables win over it."`
	ShowVersion kong.VersionFlag `name:"version" env:"-" help:"Show the version and exit."`
}

// Common returns the flags. A grammar that embeds them has it.
func (f *Flags) Common() *Flags { return f }

// Grammar is a pointer to a struct with kong's tags that embeds Flags.
type Grammar interface{ Common() *Flags }

// Run parses the call, runs its command, and returns the exit code, one of those of package
// service.
func Run(ctx context.Context, env term.Env, call service.Call, g Grammar, options ...kong.Option) int {
	call.Stdout, call.Stderr = env.Stdout, env.Stderr
	parsed, err := service.Parse(g, call, options...)
	if wrong := (*kong.ParseError)(nil); errors.As(err, &wrong) {
		parsed = wrong.Context
	}
	if parsed != nil && parsed.Selected() != nil {
		call.Help = call.Name + " " + Path(parsed.Selected()) + " --help"
	}
	if err != nil {
		return call.Exit(err)
	}
	ctx, stop := service.NotifyContext(ctx)
	defer stop()
	out := &sticky{Writer: env.Stdout}
	env.Stdout = out
	flags := g.Common()
	env.JSON, env.NATS, env.Logging = flags.JSON, flags.NATS, flags.Logging
	env.Log = flags.Logging.Logger(env.Stderr)
	parsed.BindTo(ctx, (*context.Context)(nil))
	err = parsed.Run(&env)
	if code := service.ExitCode(err); out.err != nil && (code == service.ExitDone || code == service.ExitWaits) {
		err = out.err
	}
	return call.Exit(err)
}

// Path returns the words of a command, "" for the program itself.
func Path(n *kong.Node) string {
	if n == nil || n.Parent == nil {
		return ""
	}
	return strings.TrimSpace(Path(n.Parent) + " " + n.Name)
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
