// Package faultproxy is a TCP proxy between the clients and the server of a test. It
// injects faults into their connections: latency, low bandwidth, a cut in one or
// both directions, half-open connections, resets. Only tests import it.
package faultproxy

import (
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Way is the state of one direction. The zero value forwards at once.
type Way struct {
	Latency time.Duration // added to the arrival of each byte
	Jitter  time.Duration // maximum of a random addition; the order stays
	Rate    int           // bytes per second and connection; 0: no limit
	Cut     bool          // neither data nor an end arrives before Heal
}

// Fault is the fault of all connections, present and future. The zero value is none.
type Fault struct {
	Up   Way  // from the client to the server
	Down Way  // from the server to the client
	Shut bool // new connections are closed at once
}

// Cut returns the fault of a network that drops everything silently.
func Cut() Fault { return Fault{Up: Way{Cut: true}, Down: Way{Cut: true}} }

// Slow returns the fault of a network with the latency each way, and a jitter of up
// to half of it.
func Slow(latency time.Duration) Fault {
	w := Way{Latency: latency, Jitter: latency / 2}
	return Fault{Up: w, Down: w}
}

// Stats counts since the start.
type Stats struct {
	Connections, Resets, Abandoned int64
	Up, Down                       int64 // bytes that arrived
}

// Proxy forwards connections from its address to its target.
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
// host:port, until the test ends. Connections are reset while the target does not
// accept any.
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

// Addr returns the address it listens on, host:port.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Retarget forwards future connections to another target.
func (p *Proxy) Retarget(target string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target = target
}

// Set changes the fault of all connections.
func (p *Proxy) Set(f Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault = f
	close(p.changed)
	p.changed = make(chan struct{})
}

// Heal ends the fault. Data and ends that a cut held back arrive.
func (p *Proxy) Heal() { p.Set(Fault{}) }

// Reset resets all connections on both sides, with the data under way, and returns
// their number.
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

// Abandon makes all connections half-open for ever: data is accepted and lost, and no
// side gets an error. It returns their number.
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

// Close ends the proxy and every connection. It is idempotent.
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

// now returns the state of a direction, and a channel that is closed when that
// changes.
func (p *Proxy) now(up bool) (Way, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if up {
		return p.fault.Up, p.changed
	}
	return p.fault.Down, p.changed
}
