// Package brain defines the brain of an agent: a program, a model or plain rules.
// A brain judges and edits the work tree. The runtime checks the change.
package brain

import (
	"context"

	"github.com/signalbox/signalbox/pkg/engine/work"
)

// Brain works one assignment in the given work tree.
type Brain interface {
	// Work returns the brain's outcome. An error that wraps ErrInfrastructure means
	// that the work was not tried; any other error is a failure of the work. With an
	// error the outcome still has the output and the cost. Work must return soon
	// after ctx ends.
	Work(ctx context.Context, a Assignment) (Outcome, error)
}

// The data that brains share with the documents of lifecycles.
type (
	Assignment = work.Assignment
	Outcome    = work.Outcome
	Escalation = work.Escalation
	Learned    = work.Learned
)

// Protocol is the version of the agent protocol that assignments name.
const Protocol = work.Protocol
