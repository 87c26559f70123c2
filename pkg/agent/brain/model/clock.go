package model

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/pkg/base/pacing"
)

// Clock tells the time between the tries of a request.
type Clock interface {
	Now() time.Time
	// Pause waits for d, or until the context ends.
	Pause(ctx context.Context, d time.Duration) error
}

// machine is the clock of this machine.
type machine struct{}

func (machine) Now() time.Time { return time.Now() }

func (machine) Pause(ctx context.Context, d time.Duration) error { return pacing.Pause(ctx, d) }
