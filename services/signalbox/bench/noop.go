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
	mu    sync.Mutex
	left  int // instances that have not reached their last step
	done  chan struct{}
	ended map[string]time.Time // by instance: its step before
	gaps  []time.Duration
}

// Work implements agent.Handler.
func (n *noop) Work(_ context.Context, job agent.Job) (instance.Result, error) {
	now := time.Now()
	n.mu.Lock()
	defer n.mu.Unlock()
	if before, ok := n.ended[job.Instance]; ok {
		n.gaps = append(n.gaps, now.Sub(before))
	}
	if n.ended != nil {
		n.ended[job.Instance] = time.Now()
	}
	if job.State == "s8" {
		if n.left--; n.left == 0 {
			close(n.done)
		}
	}
	return instance.Result{Status: instance.Success, ConfidenceScore: 1}, nil
}

// restart counts anew, and notes hand-offs from here on.
func (n *noop) restart(instances int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.left, n.done, n.ended, n.gaps = instances, make(chan struct{}), map[string]time.Time{}, nil
}

// waitFor returns when no more than left instances have steps before them.
func (n *noop) waitFor(ctx context.Context, left int) error {
	tick := time.NewTicker(100 * time.Microsecond)
	defer tick.Stop()
	for {
		n.mu.Lock()
		reached := n.left <= left
		n.mu.Unlock()
		if reached {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (n *noop) handoffs() []time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.gaps
}
