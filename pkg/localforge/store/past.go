package store

import "time"

// past is a state and when it ended.
type past struct {
	state *State
	until time.Time
}

// Keep has earlier states kept for that long, for At. Call it before the store is used.
func (s *Store) Keep(d time.Duration) { s.keep = d }

// remember keeps the state that has just ended. Its caller holds the lock.
func (s *Store) remember(state *State) {
	if s.keep == 0 {
		return
	}
	now := s.now()
	for len(s.past) > 0 && now.Sub(s.past[0].until) > s.keep {
		s.past = s.past[1:]
	}
	s.past = append(s.past, past{state, now})
}

// At returns the state of that long ago, or the oldest that is kept.
func (s *Store) At(age time.Duration) *State {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.now().Add(-age)
	for _, p := range s.past {
		if p.until.After(at) {
			return p.state
		}
	}
	return s.state.Load()
}
