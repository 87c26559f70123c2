package bench

import (
	"context"
	"sync"
	"time"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/instance"
)

// noop succeeds at everything at once, and notes when.
type noop struct {
	ends chan struct{} // one for every instance whose last step was done

	mu   sync.Mutex
	last map[string]time.Time // by instance: the end of its step before; nil while nobody asks
	gaps []time.Duration      // from one step to the next
}

// Work implements agent.Handler.
func (n *noop) Work(ctx context.Context, job agent.Job) (instance.Result, error) {
	n.note(job.Instance, time.Now())
	done := instance.Result{Status: instance.Success, ConfidenceScore: 1}
	if job.State != lastState {
		return done, nil
	}
	select {
	case n.ends <- struct{}{}:
		return done, nil
	case <-ctx.Done():
		return done, context.Cause(ctx)
	}
}

func (n *noop) note(id string, started time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.last == nil {
		return
	}
	if before, ok := n.last[id]; ok {
		n.gaps = append(n.gaps, started.Sub(before))
	}
	n.last[id] = time.Now()
}

// watch notes hand-offs from here on.
func (n *noop) watch() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.last = map[string]time.Time{}
}

func (n *noop) handoffs() []time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.gaps
}

// wait returns when so many instances have ended.
func (n *noop) wait(ctx context.Context, instances int) error {
	for range instances {
		select {
		case <-n.ends:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}
