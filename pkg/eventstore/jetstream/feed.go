package jetstream

import (
	"maps"
	"sync"

	"github.com/signalbox/signalbox/pkg/eventstore"
)

// feeds are those of all readers that follow the log.
type feeds struct {
	mu  sync.Mutex
	all map[*feed]struct{}
}

// feed is what its store has appended, for a reader that need not have the server
// deliver it, and up to where the log is known to go.
type feed struct {
	mu   sync.Mutex
	own  map[uint64]eventstore.Commit // by sequence, until it is read
	next uint64                       // to be read
	head uint64
	more chan struct{} // there is something new
}

// most is how many commits wait for a reader; one that is slower reads the log.
const most = 10_000

func (s *feeds) open() *feed {
	f := &feed{own: map[uint64]eventstore.Commit{}, more: make(chan struct{}, 1)}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[*feed]struct{}{}
	}
	s.all[f] = struct{}{}
	return f
}

func (s *feeds) close(f *feed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, f)
}

// appended says that a commit is in the log.
func (s *feeds) appended(c eventstore.Commit) {
	s.each(func(f *feed) {
		if len(f.own) == most {
			clear(f.own)
		}
		if f.head = max(f.head, c.Seq); c.Seq >= f.next {
			f.own[c.Seq] = c
		}
	})
}

// reaches says how far the log goes.
func (s *feeds) reaches(head uint64) {
	s.each(func(f *feed) { f.head = max(f.head, head) })
}

func (s *feeds) each(do func(*feed)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for f := range s.all {
		f.mu.Lock()
		do(f)
		f.mu.Unlock()
		select {
		case f.more <- struct{}{}:
		default:
		}
	}
}

// take returns the commit that is to be read next, if it is the store's own. ahead
// says that there is one that is not.
func (f *feed) take() (c eventstore.Commit, ok, ahead bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c, ok = f.own[f.next]; ok {
		delete(f.own, f.next)
		f.next++
	}
	return c, ok, !ok && f.head >= f.next
}

// goOn says what is to be read next.
func (f *feed) goOn(next uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next = next
	maps.DeleteFunc(f.own, func(seq uint64, _ eventstore.Commit) bool { return seq < next })
}
