package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// Prolong extends each lease that ended after the given time, or ends within the given lease.
// Call it before agents can send commands, after a time in which no engine decided any:
// their heartbeats were not answered, and no other agent has their work. It returns how many
// leases it extended.
func (e *Engine) Prolong(ctx context.Context, since time.Time, lease time.Duration) (n int, err error) {
	if err := e.Complete(ctx); err != nil { // List waits for it
		return 0, err
	}
	end := e.Now().Add(lease)
	held, err := e.List(ctx, func(in instance.Instance) bool {
		return in.Claim != nil && in.Closed == "" && in.Claim.Lease.After(since) && in.Claim.Lease.Before(end)
	})
	if err != nil {
		return 0, err
	}
	for _, in := range held {
		_, err := e.handle(ctx, instance.Command{
			ID: fmt.Sprintf("prolong-%d-%d", in.Seq, in.Claim.Token), Instance: in.ID, Actor: "orchestrator",
			Do: instance.Prolong{Token: in.Claim.Token, Lease: lease},
		}, "")
		switch {
		case err == nil:
			n++
		case errors.As(err, new(*instance.Refusal)): // it went on meanwhile
		default:
			return n, err
		}
	}
	return n, nil
}
