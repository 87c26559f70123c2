package projection

import (
	"bytes"
	"context"
	"sync"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// Start returns the state on which a command is decided first: of a live instance the one
// in memory, else what Load returns. If the command opens an instance that is not known,
// the state is empty; if there is one after all, the log refuses the commit.
func (p *Projection) Start(ctx context.Context, id string, opens bool) (*State, error) {
	if s, ok := p.states.share(id); ok {
		return s, nil
	}
	if opens && p.states.at(id).seq == 0 {
		return Empty(id), nil
	}
	return p.Load(ctx, id)
}

// Append appends the commit that follows state s and returns the state after it. stored
// is the commit without Prev, Chain and Seq; decided is the same, decoded. The errors
// are those of eventstore.Store.Append.
func (p *Projection) Append(ctx context.Context, s *State, stored eventstore.Commit, decided instance.Commit) (*State, error) {
	stored.Prev = s.Instance.Seq
	stored.Chain = eventstore.NextChain(s.Chain(), stored)
	a := &inFlightAppend{stored: stored, decided: decided, after: s}
	p.inFlight.track(a)
	seq, err := p.store.Append(ctx, stored)
	next := p.inFlight.resolve(a)
	if err != nil {
		return nil, err
	}
	if next == nil || next.Instance.Seq != seq {
		next = a.state(seq)
		p.put(ctx, next)
	}
	return next, p.indexClaims(ctx, next.Instance.Definition, stored, decided.Events)
}

// inFlight are the appends of this process that are not acknowledged yet, by instance.
// The tail may bring such a commit before its acknowledgement, or although the append
// fails: then it need not be decoded. It is safe for concurrent use.
type inFlight struct {
	mu  sync.Mutex
	all map[string]*inFlightAppend
}

// inFlightAppend is one of them. All but applied is never changed.
type inFlightAppend struct {
	stored  eventstore.Commit // without its sequence
	decided instance.Commit   // the same
	after   *State            // it was decided on
	applied *State            // the state after it, once the tail brought it
}

// track adds an append.
func (f *inFlight) track(a *inFlightAppend) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all == nil {
		f.all = map[string]*inFlightAppend{}
	}
	f.all[a.stored.Instance] = a
}

// resolve removes an append, and returns the state after it if the tail brought it.
func (f *inFlight) resolve(a *inFlightAppend) *State {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all[a.stored.Instance] == a { // two goroutines may append to an instance
		delete(f.all, a.stored.Instance)
	}
	return a.applied
}

// find returns the append that a commit of the log is, if the commit follows at, or nil.
// It compares all that a commit has: what another process made, or damage, is read like
// any commit.
func (f *inFlight) find(c eventstore.Commit, at readPosition) *inFlightAppend {
	f.mu.Lock()
	a := f.all[c.Instance]
	f.mu.Unlock()
	if a == nil || a.stored.Prev != at.seq || a.after.head != at.head || !same(&a.stored, &c) {
		return nil
	}
	return a
}

func same(s, c *eventstore.Commit) bool {
	return s.Chain == c.Chain && s.Prev == c.Prev && s.ID == c.ID && s.Workflow == c.Workflow && s.State == c.State &&
		s.Instance == c.Instance && s.Wakes == c.Wakes && s.Time.Equal(c.Time) && bytes.Equal(s.Data, c.Data)
}

// apply says that the tail brought an append, and which state follows it.
func (f *inFlight) apply(a *inFlightAppend, next *State) {
	f.mu.Lock()
	defer f.mu.Unlock()
	a.applied = next
}

// state returns the state after the append, at the sequence that the log gave it.
func (a *inFlightAppend) state(seq uint64) *State {
	decided := a.decided
	decided.Seq = seq
	return a.after.with(decided, a.stored.Chain)
}
