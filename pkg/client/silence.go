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
	// suspicious is for how long nobody may answer at a server before the connection
	// goes on to another: for about as long as an orchestrator looks itself whether
	// it is where a majority is, and then some.
	suspicious = 14 * time.Second
	// resigned is for how long at most, once there was no answer elsewhere either.
	resigned = 2 * time.Minute
	// long is what a try has to have waited to tell something.
	long = quickTry - quickTry/10
)

// silence notices that nobody answers at the server that the connection is at, and
// has it go on to the next. A server that is cut off from the others keeps its
// clients, and one whose routes came back need not know of all who listen at the
// others. Where nobody answers anywhere it goes round, more and more slowly.
type silence struct {
	nc servers

	heard atomic.Bool // there was an answer to the last try: nothing is noted
	mu    sync.Mutex
	at    string        // the server it is noted of
	since time.Time     // the first try there that nobody answered
	most  time.Duration // before the connection goes on
}

// servers is what is needed of a *nats.Conn.
type servers interface {
	ConnectedAddr() string
	Servers() []string
	ForceReconnect() error
}

// broken notes an answer, whatever it says.
func (s *silence) broken() {
	if s.heard.Load() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard.Store(true)
	s.at, s.most = "", suspicious
}

// goesOn notes that a try that began then ended with err.
func (s *silence) goesOn(began time.Time, err error) {
	late := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrTimeout)
	if !errors.Is(err, nats.ErrNoResponders) && !(late && time.Since(began) >= long) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard.Store(false)
	at := s.nc.ConnectedAddr()
	switch {
	case at != s.at: // it has gone by itself, or is under way
		s.at, s.since = at, began
	case at == "" || time.Since(s.since) < max(s.most, suspicious) || len(s.nc.Servers()) < 2:
	default:
		s.at, s.most = "", min(2*max(s.most, suspicious), resigned)
		_ = s.nc.ForceReconnect() // else it is closed, which the next try will tell
	}
}
