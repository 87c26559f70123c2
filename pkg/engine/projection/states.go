package projection

import (
	"iter"
	"math"
	"slices"
	"sync"

	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// yieldEvery is how many instances are copied before others get the lock of states.
const yieldEvery = 512

// states holds the state of every instance. The zero states is not ready: reset it.
type states struct {
	changed       func(s *State, ordered bool) // called with mu held
	tracksUnsaved bool                         // whether unsaved is kept

	mu      sync.Mutex
	live    lazyStates
	rows    rows // of those in live
	closed  dense[*closedSummary]
	ended   sorted[*closedSummary] // closed, in order
	shared  map[sharedSummary]*sharedSummary
	unsaved map[string]bool // closed instances that are in no snapshot
}

// reset forgets all states.
func (t *states) reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.live.states.all {
		t.changed(Empty(s.Instance.ID), false)
	}
	t.live = lazyStates{states: newDense(func(s *State) string { return s.Instance.ID })}
	t.rows = newRows()
	t.live.put = t.rows.put
	t.closed = newDense(func(c *closedSummary) string { return c.id })
	t.ended = sorted[*closedSummary]{id: func(c **closedSummary) string { return (*c).id }}
	t.shared, t.unsaved = map[sharedSummary]*sharedSummary{}, map[string]bool{}
}

// decodeWith sets the decoder of the states that insertEncoded gets.
func (t *states) decodeWith(decode func(data []byte) (*State, error)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.live.encoded = map[string][]byte{}
	t.live.decode = func(data []byte) (*State, error) {
		s, err := decode(data)
		if err == nil {
			t.changed(s, false)
		}
		return s, err
	}
}

// insertEncoded adds a live instance that is decoded when it is first looked up. Its
// definition has no order.
func (t *states) insertEncoded(id string, data []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.live.encoded[id] = data
}

// decodeSome decodes a batch of what is still encoded. It returns the ids of those, and
// of those that were looked up since the last call; there are none when all is decoded.
func (t *states) decodeSome() (ids []string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.live.decodeSome()
}

// share returns the state of a live instance. From then on advance does not change that
// state in place.
func (t *states) share(id string) (*State, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, ok := t.live.lookUp(id)
	if ok {
		s.unshared = false
	}
	return s, ok
}

// stateOf returns the state that advance goes on from: of a closed instance only what
// its summary has.
func (t *states) stateOf(id string) *State {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s, ok := t.live.lookUp(id); ok {
		s.unshared = false
		return s
	}
	if c, ok := t.closed.get(id); ok {
		return &State{c.instance(), &metadata{head: c.head}}
	}
	return Empty(id)
}

// Known returns the state of an instance, which may be behind the log and is a summary
// if the instance is closed. ok is false if there is none.
func (p *Projection) Known(id string) (in instance.Instance, ok bool) {
	in = p.states.stateOf(id).Instance
	return in, in.Exists()
}

// readPosition is where the log of an instance is to be read on.
type readPosition struct {
	seq        uint64
	head       digest
	definition string
	unshared   bool // advance may change the state in place
}

// at returns the read position of an instance.
func (t *states) at(id string) readPosition {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.readPosition(id)
}

func (t *states) readPosition(id string) readPosition {
	if s, ok := t.live.lookUp(id); ok {
		return readPosition{s.Instance.Seq, s.head, s.Instance.Definition, s.unshared}
	}
	if c, ok := t.closed.get(id); ok {
		return readPosition{c.seq, c.head, c.shared.definition, false}
	}
	return readPosition{}
}

// put keeps a state, unless there is a newer one.
func (t *states) put(s *State, ordered bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.Instance.Seq > t.readPosition(s.Instance.ID).seq {
		t.replace(s, ordered)
	}
}

// advance changes the state at seq in place to the one after commit c, if no method has
// returned it. Most states that a replay goes through are never looked at. It reports
// whether it did. The definition has no order, and stays the same.
func (t *states) advance(id string, seq uint64, c instance.Commit, chain string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, ok := t.live.lookUp(id)
	if !ok || !s.unshared || s.Instance.Seq != seq || slices.ContainsFunc(c.Events, migrates) {
		return false
	}
	s.evolve(c, chain)
	t.replace(s, false)
	return true
}

func migrates(e instance.Event) bool {
	_, ok := e.(instance.Migrated)
	return ok
}

// replace keeps a state in place of an older one, as a summary if it is closed.
func (t *states) replace(s *State, ordered bool) {
	t.changed(s, ordered)
	if s.Instance.Closed == "" {
		t.removeClosed(s.Instance.ID) // it may have been reopened
		delete(t.unsaved, s.Instance.ID)
		t.live.states.put(s)
		t.rows.put(s)
		return
	}
	t.live.states.remove(s.Instance.ID)
	t.rows.remove(s.Instance.ID)
	c := summarize(&s.Instance, s.head, t.shared)
	t.putClosed(c)
	if t.tracksUnsaved {
		t.unsaved[c.id] = true
	}
}

// putClosed keeps a summary in place of an older one.
func (t *states) putClosed(c *closedSummary) {
	t.removeClosed(c.id)
	scratch, group := State{}, Group{}
	c.fill(&scratch.Instance, make([]instance.Visit, 1))
	rowOf(&scratch, &group)
	c.group = t.rows.join(group)
	t.closed.put(c)
	t.ended.put(c)
}

func (t *states) removeClosed(id string) {
	if before, ok := t.closed.get(id); ok {
		t.rows.leave(before.group)
		t.closed.remove(id)
		t.ended.remove(id)
	}
}

// insertClosed adds a closed instance of a snapshot, unless something newer is known.
// Of one that is live the log will tell.
func (t *states) insertClosed(in *instance.Instance, head digest) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, lives := t.live.lookUp(in.ID); !lives && in.Seq > t.readPosition(in.ID).seq {
		t.putClosed(summarize(in, head, t.shared))
	}
}

// count returns the number of live instances, but for those that are still encoded.
func (t *states) count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.live.states.all)
}

// eachLive yields the live instances that are decoded. An instance that changes or
// closes meanwhile is yielded as it was or as it is, or twice. It locks for a chunk at
// a time and yields without the lock.
func (t *states) eachLive() iter.Seq[*State] {
	return func(yield func(*State) bool) {
		next := func(end int) (some []*State, rest int) {
			t.mu.Lock()
			defer t.mu.Unlock()
			some, rest = t.live.states.chunk(end, yieldEvery)
			for _, s := range some {
				s.unshared = false
			}
			return some, rest
		}
		yieldChunks(next, yield)
	}
}

// eachClosed yields the closed instances, in the same way.
func (t *states) eachClosed() iter.Seq[*closedSummary] {
	return func(yield func(*closedSummary) bool) {
		next := func(end int) ([]*closedSummary, int) {
			t.mu.Lock()
			defer t.mu.Unlock()
			return t.closed.chunk(end, yieldEvery)
		}
		yieldChunks(next, yield)
	}
}

func yieldChunks[T any](next func(end int) ([]T, int), yield func(T) bool) {
	for some, end := next(math.MaxInt); ; some, end = next(end) {
		for _, v := range some {
			if !yield(v) {
				return
			}
		}
		if end == 0 {
			return
		}
	}
}

// unsavedClosed returns the closed instances that are in no snapshot.
func (t *states) unsavedClosed() (all []*closedSummary) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id := range t.unsaved {
		c, _ := t.closed.get(id)
		all = append(all, c)
	}
	return all
}

// markSaved says that a snapshot has what closed up to a sequence.
func (t *states) markSaved(seq uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	rest := map[string]bool{} // a map never gets smaller
	for id := range t.unsaved {
		if c, _ := t.closed.get(id); c.seq > seq {
			rest[id] = true
		}
	}
	t.unsaved = rest
}
