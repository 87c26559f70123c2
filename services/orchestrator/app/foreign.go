package app

import (
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
)

// strangers logs and counts the messages of the log that are no commits, each once. It is safe for
// concurrent use.
type strangers struct {
	log     *slog.Logger
	metrics *metrics

	mu   sync.Mutex
	last uint64 // sequence of the newest
	n    uint64
}

// named is how many foreign messages are logged one by one. After that each is that doubles their number.
const named = 20

// note logs and counts a message, unless it was noted before: each term reads the log again.
func (s *strangers) note(c eventstore.Commit) {
	n, isNew := s.count(c.Seq)
	if !isNew {
		return
	}
	s.metrics.foreign.Inc()
	if n > named && n&(n-1) != 0 {
		return
	}
	since := "unknown"
	if at := c.Foreign.Stored; !at.IsZero() {
		since = at.Format(time.RFC3339)
	}
	s.log.Error("a message in the log is no commit of ours; it is set aside, and whoever may publish on sb.evt.> is to be found",
		"sequence", c.Seq, "subject", strconv.QuoteToASCII(c.Foreign.Subject), "bytes", c.Foreign.Size, "first", c.Foreign.First,
		"since", since, "so_far", n)
}

func (s *strangers) count(seq uint64) (n uint64, isNew bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if seq <= s.last {
		return s.n, false
	}
	s.last = seq
	s.n++
	return s.n, true
}

// seen returns how many were noted.
func (s *strangers) seen() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.n
}
