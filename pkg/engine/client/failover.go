package client

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
)

const (
	// firstTimeout is how long tries through one server have to fail before the connection moves to the
	// next one. It is a little longer than an orchestrator takes to notice that its server is cut off.
	firstTimeout = 14 * time.Second
	// maxTimeout is the longest that firstTimeout is doubled to while tries through the next servers
	// fail, too.
	maxTimeout = 2 * time.Minute
	// minWait is how long a try has to have waited for its reply to count as failed.
	minWait = quickTry - quickTry/10
)

// failover moves the connection to the next server when tries through the current one fail for long. A
// server that is cut off from its cluster keeps its clients. One whose routes came back may not know of
// subscriptions at the others yet. Its methods may be called from any goroutine.
type failover struct {
	nc serverConn

	replied atomic.Bool // the last try was replied to, and nothing below is set
	mu      sync.Mutex
	server  string        // address of the server that since is about; empty if no try failed
	since   time.Time     // start of the first failed try
	timeout time.Duration // since the last move; zero before the first
}

// serverConn is the part of a *nats.Conn that failover uses.
type serverConn interface {
	ConnectedAddr() string
	Servers() []string
	ForceReconnect() error
}

// noteReply records that a try was replied to, even by a refusal.
func (f *failover) noteReply() {
	if f.replied.Load() {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.replied.Store(true)
	f.server, f.timeout = "", firstTimeout
}

// noteFailure records that a try that began at the given time ended with err. It moves the connection
// when tries have failed for too long.
func (f *failover) noteFailure(began time.Time, err error) {
	timedOut := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrTimeout)
	if !errors.Is(err, nats.ErrNoResponders) && !(timedOut && time.Since(began) >= minWait) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.replied.Store(false)
	server, timeout := f.nc.ConnectedAddr(), max(f.timeout, firstTimeout)
	switch {
	case server != f.server: // the connection has moved by itself, or is reconnecting
		f.server, f.since = server, began
	case server == "" || time.Since(f.since) < timeout || len(f.nc.Servers()) < 2:
	default:
		f.server, f.timeout = "", min(2*timeout, maxTimeout)
		_ = f.nc.ForceReconnect() // fails if the connection is closed, as the next try will
	}
}
