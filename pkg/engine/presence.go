package engine

import (
	"context"
	"sync"
	"time"
)

// presence is when an engine could last decide commands.
type presence struct {
	mu   sync.Mutex
	last time.Time
}

// attend records that the engine decides commands now. The process may have hung, or lost NATS, for half a lease. Then attend
// first prolongs the leases that ended meanwhile, so that no heartbeat is refused for it.
func (e *Engine) attend(ctx context.Context) error {
	if e.Lease == 0 || e.away() {
		return nil
	}
	e.presence.mu.Lock()
	defer e.presence.mu.Unlock()
	now, last := e.Now(), e.presence.last
	if !last.IsZero() && now.Sub(last) >= e.Lease/2 {
		if _, err := e.Prolong(ctx, last, e.Lease); err != nil {
			return err
		}
	}
	e.presence.last = now
	return nil
}

// away reports whether no agent reaches this engine.
func (e *Engine) away() bool { return e.Reachable != nil && !e.Reachable() }
