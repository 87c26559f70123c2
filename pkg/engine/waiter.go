package engine

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/signalbox/signalbox/pkg/instance"
)

// ErrNoWork says that who waited for work got none: its time is over, or there
// is some in the queue of its role.
var ErrNoWork = errors.New("no work")

// Wait has told called once: with work of the claim's role that was made within
// the given time and is claimed with it, or with why there is none. Work of
// lifecycles with an order is not given so, but to claims that may choose.
func (e *Engine) Wait(claim instance.Claim, atMost time.Duration, told func(Outcome, error)) {
	e.view.lines.wait(&waiter{claim: claim, told: told}, atMost)
}

// Dismiss tells all who wait that there is no work.
func (e *Engine) Dismiss() { e.view.lines.dismiss() }

// lines are the agents that wait for work, role by role.
type lines struct {
	mu     sync.Mutex
	of     map[string]*line
	closed bool
}

// line is the agents of one role that wait, in the order they came. Work that lies
// in the role's queue is older than what is made now, so for each piece of it one
// of them is sent there, or the next that comes. What was put there just now may be
// on its way to an agent that waits at the queue.
type line struct {
	all     *lines
	waiting []*waiter
	queued  queued // what nobody has claimed
	sent    int    // agents that were sent to the queue
}

// waiter is one agent that waits.
type waiter struct {
	claim instance.Claim
	told  func(Outcome, error)
	until time.Time
	timer *time.Timer
	over  bool // it was told, or whoever took it from the line will tell it
}

// line returns that of a role.
func (l *lines) line(role string) *line {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.at(role)
}

func (l *lines) at(role string) *line {
	if l.of == nil {
		l.of = map[string]*line{}
	}
	if l.of[role] == nil {
		l.of[role] = &line{all: l}
	}
	return l.of[role]
}

func (l *lines) wait(w *waiter, atMost time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := l.at(w.claim.Role)
	switch {
	case l.closed:
		atMost = 0
	case at.sent < at.queued.lying(now()):
		at.sent++
		atMost = 0
	case at.queued.all > 0:
		time.AfterFunc(lies, at.send)
	}
	w.until = time.Now().Add(atMost)
	if atMost > 0 {
		at.waiting = append(at.waiting, w)
	}
	w.timer = time.AfterFunc(atMost, func() { at.leave(w) })
}

// leave tells one that there is no work, unless somebody else tells it something.
func (at *line) leave(w *waiter) {
	at.all.mu.Lock()
	over := w.over
	w.over = true
	if i := slices.Index(at.waiting, w); i >= 0 {
		at.waiting = slices.Delete(at.waiting, i, i+1)
	}
	at.all.mu.Unlock()
	if !over {
		w.told(Outcome{}, ErrNoWork)
	}
}

// next takes who waited longest from the line of a role, or nil. Whoever takes it
// tells it. After this process was paused there may be some whose agents have long
// stopped waiting, and whose timers are late.
func (l *lines) next(role string) *waiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := l.of[role]
	if at == nil {
		return nil
	}
	now := time.Now()
	i := slices.IndexFunc(at.waiting, func(w *waiter) bool { return now.Before(w.until) })
	if i < 0 {
		return nil
	}
	w := at.waiting[i]
	at.waiting = slices.Delete(at.waiting, i, i+1)
	w.over = true
	w.timer.Stop()
	return w
}

// hears tells one what came of the commit that was to give it work.
func (w *waiter) hears(out Outcome, err error) {
	if err != nil && sure(err) { // it was another's turn
		err = ErrNoWork
	}
	w.told(out, err)
}

// queues says that there is one more piece of work in the queue that nobody has
// claimed, since the given slot.
func (at *line) queues(slot int64) {
	at.all.mu.Lock()
	defer at.all.mu.Unlock()
	at.queued.add(slot)
	if len(at.waiting) > 0 {
		time.AfterFunc(lies, at.send)
	}
}

// claims says that one of them was claimed, or is not to be any more.
func (at *line) claims(slot int64) {
	at.all.mu.Lock()
	defer at.all.mu.Unlock()
	at.queued.remove(slot)
	at.sent = min(at.sent, at.queued.all)
}

// send has those who wait go to the queue for what lies there.
func (at *line) send() {
	at.all.mu.Lock()
	defer at.all.mu.Unlock()
	for lying := at.queued.lying(now()); len(at.waiting) > 0 && at.sent < lying; at.sent++ {
		w := at.waiting[0]
		at.waiting = slices.Delete(at.waiting, 0, 1)
		w.timer.Reset(0)
	}
}

// forget has agents be sent again for what is still in the queue though some were:
// they may be gone, or another engine's agents were quicker.
func (l *lines) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, at := range l.of {
		at.sent = 0
	}
}

func (l *lines) dismiss() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for _, at := range l.of {
		for _, w := range at.waiting {
			w.timer.Reset(0)
		}
		at.waiting = nil
	}
}
