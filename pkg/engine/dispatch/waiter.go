package dispatch

import (
	"errors"
	"slices"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// ErrNoWork means that an agent that waited for work gets none: its time is over, or
// there is work in the queue of its role.
var ErrNoWork = errors.New("no work")

// Reply is called once. It gets the state that the claim made and the events of its commit,
// or the reason why there is no work.
type Reply func(in instance.Instance, events []instance.Event, err error)

// Waiter is an agent that waits for work.
type Waiter struct {
	Claim instance.Claim
	Reply Reply

	until   time.Time
	timer   *time.Timer // replies that there is no work
	claimed bool        // by Next or by the timer: only that one calls Reply
}

// roleQueue is the queue of one role, and the agents that wait for it, in order of
// arrival. Work in the queue is older than what is made now, so for each piece of it
// one agent is redirected there, with ErrNoWork. Work that was put there just
// now may be on its way to an agent that waits at the queue.
type roleQueue struct {
	waiting    []*Waiter
	visibility visibility // work in the queue that is not claimed
	redirected int        // agents that were redirected to the queue
}

// remove says that work was claimed that was put into the queue in the given slot, or
// is not to be claimed any more.
func (q *roleQueue) remove(slot int64) {
	q.visibility.remove(slot)
	q.redirected = min(q.redirected, q.visibility.all)
}

// removeWaiter removes a waiter, if it is there.
func (q *roleQueue) removeWaiter(w *Waiter) {
	if i := slices.Index(q.waiting, w); i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
	}
}

// roleQueues are the queues by role.
type roleQueues map[string]*roleQueue

// of returns the queue of a role, which it makes if there is none.
func (r roleQueues) of(role string) *roleQueue {
	if r[role] == nil {
		r[role] = &roleQueue{}
	}
	return r[role]
}

// Wait waits, on behalf of an agent, for work of the claim's role that is made within
// the given time. It returns at once; reply is called from another goroutine.
func (d *Dispatcher) Wait(claim instance.Claim, atMost time.Duration, reply Reply) {
	d.mu.Lock()
	defer d.mu.Unlock()
	q := d.roles.of(claim.Role)
	switch {
	case d.closed:
		atMost = 0
	case q.redirected < q.visibility.visible(currentSlot()):
		q.redirected++
		atMost = 0
	case q.visibility.all > 0:
		time.AfterFunc(visibilityDelay, func() { d.redirect(claim.Role) })
	}
	w := &Waiter{Claim: claim, Reply: reply, until: time.Now().Add(atMost)}
	if atMost > 0 {
		q.waiting = append(q.waiting, w)
	}
	w.timer = time.AfterFunc(atMost, func() { d.expire(w) })
}

// expire replies that there is no work, unless Next returned the waiter.
func (d *Dispatcher) expire(w *Waiter) {
	d.mu.Lock()
	claimed := w.claimed
	w.claimed = true
	d.roles.of(w.Claim.Role).removeWaiter(w)
	d.mu.Unlock()
	if !claimed {
		w.Reply(instance.Instance{}, nil, ErrNoWork)
	}
}

// Next returns the agent of a role that waits longest, or nil. The caller has to call
// its Reply. After this process was paused, agents may have stopped waiting whose
// timers are late: Next skips them.
func (d *Dispatcher) Next(role string) *Waiter {
	d.mu.Lock()
	defer d.mu.Unlock()
	q := d.roles[role]
	if q == nil {
		return nil
	}
	now := time.Now()
	i := slices.IndexFunc(q.waiting, func(w *Waiter) bool { return now.Before(w.until) })
	if i < 0 {
		return nil
	}
	w := q.waiting[i]
	q.removeWaiter(w)
	w.claimed = true
	w.timer.Stop()
	return w
}

// Idle returns how many agents of each role wait for work.
func (d *Dispatcher) Idle() map[string]int {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := map[string]int{}
	for role, q := range d.roles {
		all[role] = len(q.waiting)
	}
	return all
}

// redirect redirects agents that wait to the work that is visible in the queue.
func (d *Dispatcher) redirect(role string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	q := d.roles.of(role)
	for visible := q.visibility.visible(currentSlot()); len(q.waiting) > 0 && q.redirected < visible; q.redirected++ {
		w := q.waiting[0]
		q.removeWaiter(w)
		w.timer.Reset(0)
	}
}

// ResetRedirects forgets which agents were redirected: those may be gone, or another
// process's agents were quicker. For work that is still in the queue the next ones are.
func (d *Dispatcher) ResetRedirects() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, q := range d.roles {
		q.redirected = 0
	}
}

// Dismiss replies to all agents that wait, and to those that come, that there is no
// work.
func (d *Dispatcher) Dismiss() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	for _, q := range d.roles {
		for _, w := range q.waiting {
			w.timer.Reset(0)
		}
		q.waiting = nil
	}
}
