package app

import (
	"context"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// claimed counts the work that agents hold, by role. The queues do not show it: an agent that
// waits gets its work past them.
type claimed struct {
	gauge *prometheus.GaugeVec

	mu    sync.Mutex
	roles holders
	newer map[string]bool // instances noted while the others are listed; nil: all are listed
}

func newClaimed() *claimed {
	return &claimed{roles: holders{}, gauge: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "signalbox_work_claimed",
		Help: "Work that agents hold, by role. Only the active orchestrator counts it; the others have 0."}, []string{"role"})}
}

// run counts for one term, until ctx ends. A log of many instances takes a while to list, and the
// term does not wait for it.
func (c *claimed) run(ctx context.Context, list func(context.Context, func(instance.Instance) bool) ([]instance.Instance, error)) error {
	c.reset(map[string]bool{})
	held, err := list(ctx, func(in instance.Instance) bool { return holder(in) != "" })
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	c.take(held)
	<-ctx.Done()
	c.reset(nil)
	return nil
}

// reset forgets all.
func (c *claimed) reset(newer map[string]bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id := range c.roles {
		c.roles.set(c.gauge, id, "")
	}
	c.newer = newer
}

// take notes those that were listed, but for those that have changed since.
func (c *claimed) take(held []instance.Instance) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, in := range held {
		if !c.newer[in.ID] {
			c.roles.set(c.gauge, in.ID, holder(in))
		}
	}
	c.newer = nil
}

// note takes an instance as a commit of this orchestrator has left it.
func (c *claimed) note(in instance.Instance) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.newer != nil {
		c.newer[in.ID] = true
	}
	c.roles.set(c.gauge, in.ID, holder(in))
}

// holder returns the role of the agent that holds the work, "" if none does.
func holder(in instance.Instance) string {
	if in.Claim == nil || in.Closed != "" {
		return ""
	}
	return in.Claim.Role
}

// holders has the role that holds the work of an instance, by instance.
type holders map[string]string

// set notes which role holds the work of an instance, "" for none, and counts it.
func (h holders) set(gauge *prometheus.GaugeVec, id, role string) {
	if before := h[id]; before != "" {
		gauge.WithLabelValues(before).Dec()
		delete(h, id)
	}
	if role != "" {
		h[id] = role
		gauge.WithLabelValues(role).Inc()
	}
}
