// Package crashtest runs a service through the same work many times. Each time another
// of its calls fails: a request to the forge, a push, a message to NATS. Real
// connections carry the calls.
//
// A test does not wait for the leases and messages of a crashed instance. It ends the lease
// and has the messages redelivered at once, as happens in time.
package crashtest

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// Fault is how a call fails.
type Fault int

const (
	// None is no fault.
	None Fault = iota
	// CrashAfter ends the service after the effect of the call and before its answer.
	CrashAfter
	// CrashBefore ends the service before the call is sent.
	CrashBefore
	// LoseAnswer answers 502 although the call had its effect. The service goes on.
	LoseAnswer
	// LoseRequest answers 502 and drops the call. The service goes on.
	LoseRequest
	// Stall holds the call, and all calls after it, until Resume. Then they are sent.
	Stall
)

func (f Fault) String() string {
	return [...]string{"no fault", "crash after it", "crash before it", "answer lost", "request lost", "stall"}[f]
}

// Call is a request or a message that the service sends.
type Call struct {
	Name   string // such as POST /repos/acme/widgets/pulls, sb.api.agent.pm.report
	Writes bool   // it may change something outside of the service
	NATS   bool   // it goes to NATS, not to the forge
}

// FaultAt is a fault at the call with the number, from 1.
type FaultAt struct {
	Call  int
	Fault Fault
}

// Link is the connections of one instance of a service to NATS and the forge.
type Link struct {
	context.Context        // ends when the instance has crashed or stopped
	NATS, Forge     string // URLs

	fault FaultAt
	crash context.CancelFunc
	mu    sync.Mutex
	calls []Call

	connections sync.WaitGroup // goroutines that forward to and from NATS
	stalled     chan struct{}  // closed when the call is held
	resume      chan struct{}  // closed when it may be sent
	acked       chan struct{}  // closed when a message is acknowledged after that
	once        struct{ thaw, over sync.Once }
}

func newLink(ctx context.Context, at FaultAt) *Link {
	l := &Link{fault: at, stalled: make(chan struct{}), resume: make(chan struct{}), acked: make(chan struct{})}
	l.Context, l.crash = context.WithCancel(ctx)
	return l
}

// Calls returns the calls so far.
func (l *Link) Calls() []Call {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.calls)
}

// Resume sends the calls that are held.
func (l *Link) Resume() { l.once.thaw.Do(func() { close(l.resume) }) }

// isStalled reports whether calls are held.
func (l *Link) isStalled() bool {
	select {
	case <-l.resume:
		return false
	default:
	}
	select {
	case <-l.stalled:
		return true
	default:
		return false
	}
}

// admit waits while calls are held. It returns false if the instance has crashed: its
// calls are dropped.
func (l *Link) admit() bool {
	if l.isStalled() {
		select {
		case <-l.resume:
		case <-l.Done():
		}
	}
	return l.Err() == nil
}

// countCall counts a call and returns its fault. It returns false if the instance has
// crashed.
func (l *Link) countCall(c Call) (f Fault, ok bool) {
	if !l.admit() {
		return None, false
	}
	l.mu.Lock()
	l.calls = append(l.calls, c)
	hit := len(l.calls) == l.fault.Call
	l.mu.Unlock()
	if !hit {
		return None, true
	}
	switch l.fault.Fault {
	case CrashBefore:
		l.crash()
		return None, false
	case Stall:
		close(l.stalled)
		return None, l.admit()
	}
	return l.fault.Fault, true
}

// noteAck notes that the instance acknowledged a message.
func (l *Link) noteAck() {
	select {
	case <-l.resume:
		l.once.over.Do(func() { close(l.acked) })
	default:
	}
}

// FaultPoints returns the faults of the calls. Without every, it leaves out faults that are
// equivalent to another one. A crash between two calls that only read equals a crash before
// the next call that writes. Nothing outside has changed, and nothing inside is kept. Calls
// that read fail only if reads is set.
func FaultPoints(calls []Call, every, reads bool) []FaultAt {
	all := []FaultAt{{1, CrashBefore}}
	for i, c := range calls {
		n := i + 1
		switch {
		case every:
			all = append(all, FaultAt{n, CrashBefore}, FaultAt{n, CrashAfter})
			if !c.NATS {
				all = append(all, FaultAt{n, LoseAnswer}, FaultAt{n, LoseRequest})
			}
		case c.Writes && !c.NATS:
			all = append(all, FaultAt{n, CrashAfter}, FaultAt{n, LoseAnswer}, FaultAt{n, LoseRequest})
		case c.Writes:
			all = append(all, FaultAt{n, CrashAfter})
		case !c.NATS && reads:
			all = append(all, FaultAt{n, LoseRequest})
		}
	}
	return all
}

// Describe returns the fault in words.
func (p FaultAt) Describe(calls []Call) string {
	if p.Call > len(calls) || p.Call == 0 {
		return fmt.Sprintf("call %d %s", p.Call, p.Fault)
	}
	return fmt.Sprintf("call %d of %d, %s, %s", p.Call, len(calls), calls[p.Call-1].Name, p.Fault)
}
