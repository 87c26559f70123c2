package service

import (
	"errors"
	"fmt"
)

// Exit codes of every program; docs/operations.md has the same table.
const (
	ExitDone   = 0 // what was asked for is done, or the service was stopped
	ExitFailed = 1 // it was tried and failed, was refused, or was interrupted
	ExitUsage  = 2 // nothing was tried: the call, or what it names, is wrong
	ExitWaits  = 3 // it goes on when people have said something

	// Of --healthcheck, which ends with ExitFailed if nothing runs.
	ExitNotReady = 4 // the service runs and is not ready
	ExitCutOff   = 5 // the service runs and does not reach NATS
)

// ExitCode returns the exit code for the error of a program. It is ExitDone for nil and
// ErrAnswered, ExitUsage for a UsageError, ExitWaits for a WaitError, the answer of a health check, else ExitFailed.
func ExitCode(err error) int {
	var usage *UsageError
	var wait *WaitError
	var unhealthy *healthError
	switch {
	case err == nil, errors.Is(err, ErrAnswered):
		return ExitDone
	case errors.As(err, &usage):
		return ExitUsage
	case errors.As(err, &wait):
		return ExitWaits
	case errors.As(err, &unhealthy):
		return unhealthy.code
	}
	return ExitFailed
}

// UsageError reports an invalid call. Its text names a valid one.
type UsageError struct{ Err error }

// Usagef returns a UsageError, formatted as by fmt.Errorf.
func Usagef(format string, args ...any) error {
	return &UsageError{Err: fmt.Errorf(format, args...)}
}

func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *UsageError) Unwrap() error { return e.Err }

// WaitError reports that the work waits for people. Its text names what they are asked.
type WaitError struct{ Err error }

func (e *WaitError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *WaitError) Unwrap() error { return e.Err }
