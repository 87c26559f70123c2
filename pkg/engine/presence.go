package engine

import (
	"context"
	"sync"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// presence is when an engine could last decide commands.
type presence struct {
	mu   sync.Mutex
	last time.Time
}

// Handle handles one command, as handle does. After an absence it prolongs leases first.
func (e *Engine) Handle(ctx context.Context, cmd instance.Command, name string) (Outcome, error) {
	if err := e.attend(ctx); err != nil {
		return Outcome{}, err
	}
	return e.handle(ctx, cmd, name)
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
