// Package faultproxy stands between the clients and the server of a test, on
// TCP, and makes their connections as bad as the test wants them: slow, narrow,
// cut both ways or one, half-open, gone. It is a library of tests.
package faultproxy

import (
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Way is how one direction is. The zero value forwards at once.
type Way struct {
	Latency time.Duration // each byte arrives so much later
	Jitter  time.Duration // and up to so much later still, in order nevertheless
	Rate    int           // bytes a second of each connection; 0: as many as there are
	Cut     bool          // nothing arrives, an end neither; what was sent arrives when it is healed
}

// Fault is how the connections are, those there are and those to come. The zero
// value is none.
type Fault struct {
	Up   Way  // from the client to the server
	Down Way  // from the server to the client
	Shut bool // a new connection is closed as soon as it is made
}

// Cut is a network that is gone: nothing arrives, and nobody is told.
func Cut() Fault { return Fault{Up: Way{Cut: true}, Down: Way{Cut: true}} }

// Slow is a network that takes latency each way, and up to half as much more.
func Slow(latency time.Duration) Fault {
	w := Way{Latency: latency, Jitter: latency / 2}
	return Fault{Up: w, Down: w}
}

// Stats counts since the start.
type Stats struct {
	Connections, Resets, Abandoned int64
	Up, Down                       int64 // bytes that arrived
}

// Proxy forwards what is sent to its address to its target.
type Proxy struct {
	listener *net.TCPListener
	wg       sync.WaitGroup

	mu      sync.Mutex
	target  string
	fault   Fault
	changed chan struct{} // closed by the next Set
	links   map[*link]struct{}
	closed  bool

	connections, resets, abandoned, up, down atomic.Int64
}

// Start listens on a free port of the loopback interface and forwards to target,
// host:port, until the test ends. A target that is not there yet ends the
// connections that are made meanwhile.
func Start(t testing.TB, target string) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("listen for %s: %v", target, err)
	}
	p := &Proxy{listener: l.(*net.TCPListener), target: target, changed: make(chan struct{}), links: map[*link]struct{}{}}
	p.wg.Go(p.accept)
	t.Cleanup(p.Close)
	return p
}

// Addr is where it listens, host:port.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Retarget forwards the connections to come to another place.
func (p *Proxy) Retarget(target string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target = target
}

// Set makes the connections so, from now on.
func (p *Proxy) Set(f Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault = f
	close(p.changed)
	p.changed = make(chan struct{})
}

// Heal ends the fault: what a cut held back arrives, and so does an end.
func (p *Proxy) Heal() { p.Set(Fault{}) }

// Reset ends all connections there are, on both sides at once, with what they
// hold. It returns how many.
func (p *Proxy) Reset() int {
	n := 0
	for _, l := range p.current() {
		if l.end() {
			n++
		}
	}
	p.resets.Add(int64(n))
	return n
}

// Abandon makes all connections there are half-open, for ever: what is sent
// there is accepted and lost, and no side is told. It returns how many.
func (p *Proxy) Abandon() int {
	n := 0
	for _, l := range p.current() {
		if l.abandon() {
			n++
		}
	}
	p.abandoned.Add(int64(n))
	return n
}

// Stats returns the counts so far.
func (p *Proxy) Stats() Stats {
	return Stats{p.connections.Load(), p.resets.Load(), p.abandoned.Load(), p.up.Load(), p.down.Load()}
}

// Close ends it and every connection. A closed one closes at no cost.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	_ = p.listener.Close()
	for _, l := range p.current() {
		l.end()
	}
	p.wg.Wait()
}

// now is how a direction is, and a channel that is closed when that changes.
func (p *Proxy) now(up bool) (Way, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if up {
		return p.fault.Up, p.changed
	}
	return p.fault.Down, p.changed
}
