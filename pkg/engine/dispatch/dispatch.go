// Package dispatch knows which work is ready, which of it lies in a role's queue, how much is
// under way, and which agents wait for work. A Dispatcher gets each new state of an instance
// by Update, and answers four questions. Next says which agent is given work that a commit
// makes, Reserve whether a limit leaves a place for it. MostUrgent says which work is most
// urgent. Lapsed says which work is in no queue and with no agent.
//
// The queues themselves are consumers of the log: a Dispatcher only counts what is in
// them. It has a lock, and another one for the places. It calls nothing of others while it
// holds one, so Update may be called with locks held.
package dispatch

import (
	"context"
	"sync"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/projection"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// Definitions finds lifecycles by their content hash.
type Definitions interface {
	Hashed(ctx context.Context, hash string) (*workflow.Definition, error)
}

// Dispatcher is safe for concurrent use.
type Dispatcher struct {
	*places

	definitions Definitions

	mu     sync.Mutex
	closed bool // Dismiss was called
	roles  roleQueues
	queued map[string]queuedItem // work in a queue, by instance
	direct map[string]Lapse      // work that was given directly and is in no queue, by instance
	ranked rankedWork            // work that is claimed in order
}

// queuedItem is work in the queue of a role.
type queuedItem struct {
	role string
	slot int64 // when it was put there
}

// New returns a Dispatcher that knows of no work. The limits are the operator's.
func New(definitions Definitions, limits []Limit) *Dispatcher {
	return &Dispatcher{
		places: newPlaces(limits), definitions: definitions, roles: roleQueues{}, queued: map[string]queuedItem{}, direct: map[string]Lapse{},
		ranked: rankedWork{items: map[QueueKey]map[string]*workItem{}, keys: map[string]QueueKey{}},
	}
}

// Update sets the present state of an instance. ordered means that its definition
// may have an order. Call it with the states of an instance in order.
func (d *Dispatcher) Update(s *projection.State, ordered bool) {
	d.places.update(s)
	d.mu.Lock()
	defer d.mu.Unlock()
	item, ready := newWorkItem(s)
	d.ranked.update(s.Instance.ID, item, ready && ordered)
	d.updateDirect(s, item, ready)
	d.updateQueued(s)
}

// updateDirect notes work that only the agent has that it was given to.
func (d *Dispatcher) updateDirect(s *projection.State, item workItem, ready bool) {
	if id := s.Instance.ID; ready && s.Instance.Direct {
		d.direct[id] = Lapse{Instance: id, Work: s.Instance.Work, free: item.free}
	} else if len(d.direct) > 0 {
		delete(d.direct, id)
	}
}

// updateQueued counts the work of an instance in the queue where it is now.
func (d *Dispatcher) updateQueued(s *projection.State) {
	id := s.Instance.ID
	was, is := d.queued[id], queuedRole(s)
	if was.role == is {
		return
	}
	if was.role != "" {
		delete(d.queued, id)
		d.roles[was.role].remove(was.slot)
	}
	if is == "" {
		return
	}
	now := currentSlot()
	d.queued[id] = queuedItem{is, now}
	q := d.roles.of(is)
	q.visibility.add(now)
	if len(q.waiting) > 0 {
		time.AfterFunc(visibilityDelay, func() { d.redirect(is) })
	}
}

// queuedRole returns the role whose queue has the work of an instance, "" if none has.
// Work that rests after a fault, or that was claimed since it was dispatched, comes
// back to the queue later: then it is not counted.
func queuedRole(s *projection.State) string {
	in := &s.Instance
	claimed := in.Claim != nil && (in.Work != in.Seq || in.Claim.Live(in.UpdatedAt))
	if in.Direct || !s.RestsUntil().IsZero() || claimed {
		return ""
	}
	return s.Ready()
}

// Lapse is work that was given directly to an agent, which lost it or gave it back.
type Lapse struct {
	Instance string
	Work     uint64
	free     time.Time
}

// Lapsed returns the work that no queue has and, at the given time, no agent. The lease has
// run out, or it was given back and has rested.
func (d *Dispatcher) Lapsed(at time.Time) (all []Lapse) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, l := range d.direct {
		if !at.Before(l.free) {
			all = append(all, l)
		}
	}
	return all
}
