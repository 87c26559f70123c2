// Package store keeps what the local forge knows in addition to its git repositories:
// accounts, issues, pull requests and the rows that belong to them. A journal makes
// them durable.
package store

import (
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// Store is the newest state and the journal it is folded from. Its methods may be
// called from any goroutine.
type Store struct {
	now   func() time.Time
	state atomic.Pointer[State]

	mu       sync.Mutex // serialises changes
	journal  *journal
	observer func(Changed)
	keep     time.Duration // how long earlier states are kept; 0: not at all
	past     []past
}

// Changed is one change that has been made.
type Changed struct {
	Before, After *State
	Entries       []Entry
	By            int64 // the account that made it, 0 if unknown
	At            time.Time
}

// Observe sets what is called after each change, in their order, under the lock of the
// store: it must be quick and change nothing. Call it before the store is used.
func (s *Store) Observe(observer func(Changed)) { s.observer = observer }

// Open reads the journal in dir and returns its state. It creates the journal if
// there is none. It fails with filelock.ErrHeld if another store has it open.
func Open(dir string, now func() time.Time) (*Store, error) {
	journal, state, err := openJournal(filepath.Join(dir, "journal.jsonl"))
	if err != nil {
		return nil, err
	}
	s := &Store{now: now, journal: journal}
	s.state.Store(state)
	return s, nil
}

// Close releases the journal. Changes after it fail.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.journal.close()
}

// Load returns the newest state. It never changes: read one state from the start of
// a request to its end.
func (s *Store) Load() *State { return s.state.Load() }

// Now returns the time of the store's clock in whole seconds.
func (s *Store) Now() time.Time { return s.now().UTC().Truncate(time.Second) }

// Change calls decide with the newest state, makes the entries that it puts durable,
// and then makes them visible. Changes happen one after the other. If decide fails,
// nothing changes.
func (s *Store) Change(decide func(*Tx) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.state.Load()
	t := &Tx{State: before, Now: s.Now(), lastID: before.lastID}
	if err := decide(t); err != nil || len(t.entries) == 0 {
		return err
	}
	if err := s.journal.append(t.entries); err != nil {
		return err
	}
	after := before.with(t.entries)
	s.state.Store(after)
	s.remember(before)
	if s.observer != nil {
		s.observer(Changed{Before: before, After: after, Entries: t.entries, By: t.By, At: t.Now})
	}
	return nil
}

// Tx collects the entries of one change. Only the function that got it uses it.
type Tx struct {
	State   *State // before the change
	Now     time.Time
	By      int64 // the account that makes the change, 0 if unknown
	lastID  int64
	entries []Entry
}

// ID returns a number that no row has yet.
func (t *Tx) ID() int64 {
	t.lastID++
	return t.lastID
}

// Put adds an entry to the change.
func (t *Tx) Put(e Entry) { t.entries = append(t.entries, e) }

// Touch puts the issue with the time of the change as its last update.
func (t *Tx) Touch(repo string, i Issue) {
	i.Updated = t.Now
	t.Put(Entry{Repo: repo, Issue: &i})
}

// RecordPush puts the move of a branch. It fills in the id, the time, and the kind if
// there is none.
func (t *Tx) RecordPush(repo string, p Push) {
	p.ID, p.At = t.ID(), t.Now
	switch {
	case p.Kind != "":
	case p.Before == ZeroSHA:
		p.Kind = "branch_creation"
	case p.After == ZeroSHA:
		p.Kind = "branch_deletion"
	default:
		p.Kind = "push"
	}
	t.Put(Entry{Repo: repo, Push: &p})
}

// Closed returns the issue as closed by the account at the time of the change. It
// puts nothing.
func (t *Tx) Closed(i Issue, by int64, reason string) Issue {
	i.State, i.Reason, i.ClosedBy = "closed", reason, by
	i.Closed, i.Updated = &t.Now, t.Now
	return i
}
