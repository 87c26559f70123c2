package model

import (
	"context"
	"time"
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

func (machine) Pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
