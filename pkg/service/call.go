package service

import (
	"errors"
	"fmt"
	"io"

	"github.com/alecthomas/kong"
)

// Call is how a program was called.
type Call struct {
	Name   string // of the program
	About  string // one sentence for --help
	Args   []string
	Stdout io.Writer
	Stderr io.Writer
}

// Parse fills grammar, a pointer to a struct as kong reads it, from flags,
// then the environment (SIGNALBOX_ and the flag's name unless its tag says
// otherwise), then the file that a flag of type kong.ConfigFlag names, then
// defaults. A call that is wrong is a UsageError; ErrAnswered says that --help
// or --version was all that was asked.
func Parse(grammar any, c Call, options ...kong.Option) (*kong.Context, error) {
	answered := false
	options = append([]kong.Option{
		kong.Name(c.Name),
		kong.Description(c.About),
		kong.DefaultEnvars("SIGNALBOX"),
		kong.Configuration(loadConfig),
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
	return ctx, nil
}

// Exit says on standard error why the program fails, if it does, and returns
// its exit code.
func (c Call) Exit(err error) int {
	code := ExitCode(err)
	if code == 0 {
		return code
	}
	fmt.Fprintf(c.Stderr, "%s: %v\n", c.Name, err)
	if code == exitUsage {
		fmt.Fprintf(c.Stderr, "%s --help lists what there is.\n", c.Name)
	}
	return code
}

// ErrAnswered is a call that asked for nothing but help or the version.
var ErrAnswered = errors.New("help or version was shown")

// UsageError is a call that was wrong. Its text says what would be right.
type UsageError struct{ Err error }

// Usagef makes a UsageError as fmt.Errorf makes an error.
func Usagef(format string, args ...any) error {
	return &UsageError{Err: fmt.Errorf(format, args...)}
}

func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap returns what was wrong.
func (e *UsageError) Unwrap() error { return e.Err }

const (
	exitFailed = 1
	exitUsage  = 2
)

// ExitCode is 0 for no error and for ErrAnswered, 2 for a UsageError, and 1
// for any other: what was asked did not hold.
func ExitCode(err error) int {
	var usage *UsageError
	switch {
	case err == nil, errors.Is(err, ErrAnswered):
		return 0
	case errors.As(err, &usage):
		return exitUsage
	}
	return exitFailed
}
