package service

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/signalbox/signalbox/pkg/base/sanitize"
)

// Call is one call of a program.
type Call struct {
	Name   string // of the program
	About  string // one sentence for --help
	Args   []string
	Help   string // call that prints the help for a usage error; empty: Name --help
	Stdout io.Writer
	Stderr io.Writer
}

// Parse fills grammar, a pointer to a struct with kong's tags. A value comes from the
// flags, else from the environment, else from the file that a flag of type
// kong.ConfigFlag names, else from the default. A flag's variable is SIGNALBOX_ and
// its name, unless its tag has another. The error is a UsageError, or ErrAnswered
// after --help or --version.
func Parse(grammar any, c Call, options ...kong.Option) (*kong.Context, error) {
	answered := false
	options = append([]kong.Option{
		kong.Name(c.Name),
		kong.Description(c.About),
		kong.DefaultEnvars("SIGNALBOX"),
		kong.Configuration(loadConfig),
		withDays(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
		kong.Vars{"version": c.Name + " " + ReadBuild().String()},
		kong.Writers(c.Stdout, c.Stderr),
		kong.Exit(func(int) { answered = true }),
	}, options...)
	parser, err := kong.New(grammar, options...)
	if err != nil {
		return nil, fmt.Errorf("flags of %s: %w", c.Name, err)
	}
	ctx, err := parser.Parse(c.Args)
	switch {
	case answered: // kong goes on parsing after its Exit
		return nil, ErrAnswered
	case err != nil:
		return nil, &UsageError{Err: err}
	}
	for _, part := range ctx.Path {
		if part.Flag != nil && !part.Resolved && strings.HasSuffix(part.Flag.Name, "token") {
			fmt.Fprintf(c.Stderr, "%s: --%s shows the token to every user of this machine: --%[2]s-file and the environment do not\n", c.Name, part.Flag.Name)
		}
	}
	return ctx, nil
}

// hideNATS leaves the flags of the connection out of the help.
func hideNATS(k *kong.Kong) error {
	for _, flag := range k.Model.Flags {
		if flag.Group != nil && flag.Group.Key == "NATS" {
			flag.Hidden = true
		}
	}
	return nil
}

// Exit writes the error to standard error, if the exit code is not 0, and returns the
// exit code.
func (c Call) Exit(err error) int {
	code := ExitCode(err)
	if code == ExitDone {
		return code
	}
	fmt.Fprintf(c.Stderr, "%s: %s\n", c.Name, sanitize.Terminal(err.Error()))
	if code == ExitUsage {
		fmt.Fprintf(c.Stderr, "%s has the usage.\n", cmp.Or(c.Help, c.Name+" --help"))
	}
	return code
}

// ErrAnswered reports that --help or --version was answered.
var ErrAnswered = errors.New("help or version was shown")
