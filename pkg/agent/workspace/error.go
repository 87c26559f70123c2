package workspace

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/brain"
)

// Errors that a caller can distinguish, in addition to brain.ErrInfrastructure.
var (
	// ErrGone: the program removed or replaced its work tree.
	ErrGone = errors.New("the work tree is gone")
	// ErrUnreadable: what the program left cannot be read by git.
	ErrUnreadable = errors.New("the work tree cannot be read")
	// ErrSource: there is nothing to work on: no repository, no commit, no such branch, a shallow clone.
	ErrSource = errors.New("repository cannot be worked on")
	// ErrForeign: the branch on the forge holds commits that are not in the work.
	ErrForeign = errors.New("the branch holds other commits")
	// ErrRejected: the forge refused the push.
	ErrRejected = errors.New("push refused by the forge")
)

// infra marks a fault as one that says nothing about the work.
func infra(err error, format string, args ...any) error {
	return fmt.Errorf("%w: %s: %w", brain.ErrInfrastructure, fmt.Sprintf(format, args...), err)
}

// unreadable blames the program, unless the disk or the context is to blame.
func unreadable(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
		strings.Contains(err.Error(), "No space left on device") {
		return infra(err, "read the work tree")
	}
	return fmt.Errorf("%w: %w", ErrUnreadable, err)
}
