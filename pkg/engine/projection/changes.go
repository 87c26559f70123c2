package projection

import (
	"slices"
	"sync"
)

// Changes is a set of instances that changed. Its reader looks at the state that they
// have by then: what happened in between is not kept. It is safe for concurrent use.
type Changes struct {
	mu   sync.Mutex
	ids  map[string]bool
	more chan struct{}
}

// NewChanges returns an empty set.
func NewChanges() *Changes { return &Changes{ids: map[string]bool{}, more: make(chan struct{}, 1)} }

// Note puts instances into the set.
func (c *Changes) Note(ids ...string) {
	if len(ids) == 0 {
		return
	}
	c.mu.Lock()
	for _, id := range ids {
		c.ids[id] = true
	}
	c.mu.Unlock()
	select {
	case c.more <- struct{}{}:
	default:
	}
}

// More has a value when something was noted since it was last received from.
func (c *Changes) More() <-chan struct{} { return c.more }

// keptRoom is how many instances Take keeps room for: a map never gets smaller, and a
// start notes all instances.
const keptRoom = 64

// Take empties the set and returns what was in it, in order.
func (c *Changes) Take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]string, 0, len(c.ids))
	for id := range c.ids {
		out = append(out, id)
	}
	if len(c.ids) <= keptRoom {
		clear(c.ids)
	} else {
		c.ids = map[string]bool{}
	}
	slices.Sort(out)
	return out
}

// Changes returns a set in which Follow notes each instance that it reads a commit of.
// Call it before Follow.
func (p *Projection) Changes() *Changes {
	c := NewChanges()
	p.changes = append(p.changes, c)
	return c
}

func (p *Projection) note(ids ...string) {
	for _, changes := range p.changes {
		changes.Note(ids...)
	}
}

// noteAll notes every instance.
func (p *Projection) noteAll() {
	if len(p.changes) == 0 {
		return
	}
	var ids []string
	for s := range p.states.eachLive() {
		ids = append(ids, s.Instance.ID)
	}
	for c := range p.states.eachClosed() {
		ids = append(ids, c.id)
	}
	p.note(ids...)
}
