package git

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// maxStderr is how many of the last bytes git wrote to standard error are kept.
const maxStderr = 8 << 10

// ErrTooLarge says that git wrote more than the caller accepts.
var ErrTooLarge = errors.New("git wrote more than is accepted")

var credentials = regexp.MustCompile(`://[^/@\s]+@`)

// Error is a run of git that failed. It unwraps to the context's error when
// that ended the run, to ErrTooLarge, or to why git could not be started.
type Error struct {
	Args     []string // without credentials in URLs
	ExitCode int      // -1 when git did not exit by itself
	Stderr   string   // the end of what git said

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

// ExitCode is the exit status of the run of git that err reports: 0 for nil,
// -1 when there is none.
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
