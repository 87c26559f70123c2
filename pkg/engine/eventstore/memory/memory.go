// Package memory is the log without a server, for fast tests. It keeps the
// promises of the port and forgets everything with the process.
package memory

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
)

// Store is an eventstore.Store. Make one with New.
type Store struct {
	mu      sync.Mutex
	log     []eventstore.Commit // sequence n is at n-1
	last    map[string]uint64   // by instance
	spent   map[string]uint64   // by command id
	changed chan struct{}       // closed by the next append
}

var _ eventstore.Store = (*Store)(nil)

// New returns an empty log.
func New() *Store {
	return &Store{last: map[string]uint64{}, spent: map[string]uint64{}, changed: make(chan struct{})}
}

// Append implements eventstore.Store.
func (s *Store) Append(ctx context.Context, c eventstore.Commit) (uint64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if err := c.Check(); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if seq, ok := s.spent[c.ID]; ok {
		if s.log[seq-1].Chain == c.Chain {
			return seq, nil
		}
		return 0, fmt.Errorf("%w: %w: %s of %q made commit %d", eventstore.ErrConflict, eventstore.ErrDuplicate, c.ID, c.Instance, seq)
	}
	if last := s.last[c.Instance]; last != c.Prev {
		return 0, fmt.Errorf("%w: %q is at commit %d, not at %d", eventstore.ErrConflict, c.Instance, last, c.Prev)
	}
	c.Seq = uint64(len(s.log)) + 1
	c.Time = c.Time.Round(0).UTC()
	s.log = append(s.log, clone(c))
	s.last[c.Instance], s.spent[c.ID] = c.Seq, c.Seq
	close(s.changed)
	s.changed = make(chan struct{})
	return c.Seq, nil
}

// Intrude adds a message that is no commit, as another program would.
func (s *Store) Intrude(subject string, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, eventstore.SetAside(uint64(len(s.log))+1, subject, data, time.Time{}))
	close(s.changed)
	s.changed = make(chan struct{})
}

// Head implements eventstore.Store.
func (s *Store) Head(ctx context.Context) (uint64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return uint64(len(s.log)), nil
}

// Last implements eventstore.Store.
func (s *Store) Last(ctx context.Context, instance string) (eventstore.Commit, error) {
	if err := ctx.Err(); err != nil {
		return eventstore.Commit{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	seq, ok := s.last[instance]
	if !ok {
		return eventstore.Commit{}, fmt.Errorf("%w: %q", eventstore.ErrUnknown, instance)
	}
	return clone(s.log[seq-1]), nil
}

// Load implements eventstore.Store.
func (s *Store) Load(ctx context.Context, instance string) ([]eventstore.Commit, error) {
	last, err := s.Last(ctx, instance)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var commits []eventstore.Commit
	for _, c := range s.log[:last.Seq] {
		if c.Instance == instance {
			commits = append(commits, clone(c))
		}
	}
	return commits, eventstore.VerifyChain(commits)
}

// Since implements eventstore.Store.
func (s *Store) Since(ctx context.Context, instance string, after uint64) ([]eventstore.Commit, error) {
	last, err := s.Last(ctx, instance)
	if after == 0 && errors.Is(err, eventstore.ErrUnknown) {
		return nil, nil
	}
	var commits []eventstore.Commit
	for ; err == nil && last.Seq > after; last = s.at(last.Prev) {
		commits = append(commits, last)
	}
	if err == nil && last.Seq != after || errors.Is(err, eventstore.ErrUnknown) {
		return nil, fmt.Errorf("%w: %q has no commit at sequence %d", eventstore.ErrCorrupt, instance, after)
	}
	slices.Reverse(commits)
	return commits, err
}

// Page implements eventstore.Store.
func (s *Store) Page(ctx context.Context, instance string, p eventstore.Part) (commits []eventstore.Commit, more bool, err error) {
	all, err := s.Load(ctx, instance)
	for _, c := range all {
		if c.Seq <= p.After || p.Beyond(c) {
			continue
		}
		if p.Size -= len(c.Data); p.Size < 0 && len(commits) > 0 {
			return commits, true, err
		}
		commits = append(commits, c)
	}
	return commits, false, err
}

// Gather implements eventstore.Store.
func (s *Store) Gather(ctx context.Context, instance string, seqs []uint64) (commits []eventstore.Commit, err error) {
	head, err := s.Head(ctx)
	for _, seq := range seqs {
		if err == nil && (seq == 0 || seq > head || s.at(seq).Instance != instance) {
			err = fmt.Errorf("%w: sequence %d is no commit of %q", eventstore.ErrCorrupt, seq, instance)
		}
		if err != nil {
			return nil, err
		}
		commits = append(commits, s.at(seq))
	}
	return commits, nil
}

// at returns the commit at a sequence; the zero Commit at zero.
func (s *Store) at(seq uint64) eventstore.Commit {
	s.mu.Lock()
	defer s.mu.Unlock()
	if seq == 0 {
		return eventstore.Commit{}
	}
	return clone(s.log[seq-1])
}

// Read implements eventstore.Store.
func (s *Store) Read(ctx context.Context, from uint64, f func(eventstore.Commit) error, caught func()) error {
	if caught == nil {
		caught = func() {}
	}
	next, end := max(from, 1), uint64(0)
	for first := true; ; first = false {
		s.mu.Lock()
		log, changed := s.log, s.changed
		s.mu.Unlock()
		if first {
			if end = uint64(len(log)); next > end+1 {
				return fmt.Errorf("%w: it ends at %d, want at least %d", eventstore.ErrCorrupt, end, next-1)
			}
			if next > end {
				caught()
			}
		}
		for ; next <= uint64(len(log)); next++ {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := f(clone(log[next-1])); err != nil {
				return err
			}
			if next == end {
				caught()
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}

// clone keeps callers and the log from sharing bytes.
func clone(c eventstore.Commit) eventstore.Commit {
	c.Data = bytes.Clone(c.Data)
	return c
}
