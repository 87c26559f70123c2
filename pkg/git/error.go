package git

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// maxStderr limits the last bytes kept of git's standard error.
const maxStderr = 8 << 10

// ErrTooLarge reports that git wrote more than the caller accepts.
var ErrTooLarge = errors.New("git wrote more than is accepted")

var credentials = regexp.MustCompile(`://[^/@\s]+@`)

// Error is a failed run of git. It unwraps to the context's error if that ended the
// run, to ErrTooLarge, or to the error of the start.
type Error struct {
	Args     []string // without credentials in URLs
	ExitCode int      // -1 when git did not exit by itself
	Stderr   string   // the end of standard error

	cause error
}

func (e *Error) Error() string {
	what := fmt.Sprintf("exit status %d", e.ExitCode)
	if e.cause != nil {
		what = e.cause.Error()
	}
	if e.Stderr != "" {
		what += ": " + e.Stderr
	}
	return "git " + strings.Join(e.Args, " ") + ": " + what
}

func (e *Error) Unwrap() error { return e.cause }

// ExitCode returns the exit code of a failed run: 0 for nil, -1 if git did not exit
// by itself or err is no *Error.
func ExitCode(err error) int {
	var e *Error
	switch {
	case err == nil:
		return 0
	case errors.As(err, &e):
		return e.ExitCode
	}
	return -1
}
