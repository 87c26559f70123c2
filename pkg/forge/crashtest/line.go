// Package crashtest has a service do its work again and again, on real wires
// and each time with another of its calls gone wrong, until none is left: every
// request to the forge, every push, all that goes to NATS.
//
// What a service that is gone has left behind is not waited for: its lease is
// ended and its messages are handed out again at once, as they would be in time.
package crashtest

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// Fault is how a call goes wrong.
type Fault int

const (
	// None is no fault.
	None Fault = iota
	// Dies has the service be gone when the call has had its effect, before the answer.
	Dies
	// Unborn has the service be gone before the call goes out.
	Unborn
	// Lost answers 502 although the call had its effect; the service lives.
	Lost
	// Cut answers 502, and the call never went out; the service lives.
	Cut
	// Held keeps the call, and all that comes after it, until Thaw. Then they go
	// out: somebody who slept wakes up and goes on.
	Held
)

func (f Fault) String() string {
	return [...]string{"goes well", "is the last, unheard", "is not made any more", "is not heard", "is not made", "is late"}[f]
}

// Call is one that leaves the service.
type Call struct {
	Name   string // what is called: POST /repos/acme/widgets/pulls, sb.api.agent.pm.report
	Writes bool   // it may change something outside
	NATS   bool   // it goes to NATS, not to the forge
}

// Point is where something goes wrong: at the call of that number, from 1.
type Point struct {
	Call  int
	Fault Fault
}

// Line is all that connects one incarnation of a service with the world.
type Line struct {
	context.Context        // ends when the service is gone
	NATS, Forge     string // URLs

	at   Point
	die  context.CancelFunc
	mu   sync.Mutex
	made []Call

	wires sync.WaitGroup // what carries words to and from NATS
	held  chan struct{}  // closed when the call is kept
	thaw  chan struct{}  // closed when it may go
	over  chan struct{}  // closed when a message is settled after that
	once  struct{ thaw, over sync.Once }
}

func newLine(ctx context.Context, at Point) *Line {
	l := &Line{at: at, held: make(chan struct{}), thaw: make(chan struct{}), over: make(chan struct{})}
	l.Context, l.die = context.WithCancel(ctx)
	return l
}

// Made are the calls so far.
func (l *Line) Made() []Call {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.made)
}

// Reached reports whether the call that is to go wrong was made.
func (l *Line) Reached() bool { return len(l.Made()) >= l.at.Call }

// Thaw lets what is kept go out.
func (l *Line) Thaw() { l.once.thaw.Do(func() { close(l.thaw) }) }

// asleep reports whether the line is frozen.
func (l *Line) asleep() bool {
	select {
	case <-l.thaw:
		return false
	default:
	}
	select {
	case <-l.held:
		return true
	default:
		return false
	}
}

// pass waits while the line is frozen; it is false for the dead, whose calls
// come to nothing.
func (l *Line) pass() bool {
	if l.asleep() {
		select {
		case <-l.thaw:
		case <-l.Done():
		}
	}
	return l.Err() == nil
}

// call counts one, and says how it goes wrong; ok is false for the dead.
func (l *Line) call(c Call) (f Fault, ok bool) {
	if !l.pass() {
		return None, false
	}
	l.mu.Lock()
	l.made = append(l.made, c)
	hit := len(l.made) == l.at.Call
	l.mu.Unlock()
	if !hit {
		return None, true
	}
	switch l.at.Fault {
	case Unborn:
		l.die()
		return None, false
	case Held:
		close(l.held)
		return None, l.pass()
	}
	return l.at.Fault, true
}

// settled notes that a message was.
func (l *Line) settled() {
	select {
	case <-l.thaw:
		l.once.over.Do(func() { close(l.over) })
	default:
	}
}

// Points are all that can go wrong with the calls. Without every, those are left
// out that are another's likeness: to be gone between two calls that only read
// is to be gone before the next that writes, for nothing has changed outside and
// nothing inside survives. Reads are to go wrong if reads says so.
func Points(calls []Call, every, reads bool) []Point {
	all := []Point{{1, Unborn}}
	for i, c := range calls {
		n := i + 1
		switch {
		case every:
			all = append(all, Point{n, Unborn}, Point{n, Dies})
			if !c.NATS {
				all = append(all, Point{n, Lost}, Point{n, Cut})
			}
		case c.Writes && !c.NATS:
			all = append(all, Point{n, Dies}, Point{n, Lost}, Point{n, Cut})
		case c.Writes:
			all = append(all, Point{n, Dies})
		case !c.NATS && reads:
			all = append(all, Point{n, Cut})
		}
	}
	return all
}

// About is the point in words.
func (p Point) About(calls []Call) string {
	if p.Call > len(calls) || p.Call == 0 {
		return fmt.Sprintf("call %d %s", p.Call, p.Fault)
	}
	return fmt.Sprintf("call %d of %d, %s, %s", p.Call, len(calls), calls[p.Call-1].Name, p.Fault)
}
