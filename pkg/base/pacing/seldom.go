package pacing

import (
	"sync"
	"time"
)

// SeldomEvery is how often Seldom lets an event of one kind pass.
const SeldomEvery = 10 * time.Second

// Seldom lets one event of each kind pass in SeldomEvery and counts the others, so that
// strangers cannot fill a log. The kinds must be few. Its zero value is ready, and safe for
// concurrent use.
type Seldom[K comparable] struct {
	mu   sync.Mutex
	last map[K]time.Time
	more map[K]int
}

// Note reports whether an event may pass now, and how many of its kind did not pass before.
func (s *Seldom[K]) Note(kind K, at time.Time) (more int, now bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last == nil {
		s.last, s.more = map[K]time.Time{}, map[K]int{}
	}
	if last, ok := s.last[kind]; ok && at.Sub(last) < SeldomEvery {
		s.more[kind]++
		return 0, false
	}
	more = s.more[kind]
	s.last[kind], s.more[kind] = at, 0
	return more, true
}
