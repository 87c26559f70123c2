// Package pacing has the one constructor of the pauses between tries, and limits how often an
// event of strangers is logged.
package pacing

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// Backoff returns pauses that grow from first to longest, with the library's
// factor and jitter. It is not safe for concurrent use.
func Backoff(first, longest time.Duration) *backoff.ExponentialBackOff {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval, b.MaxInterval = first, longest
	return b
}

// Pause waits for d, or returns the cause of the context's end.
func Pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
