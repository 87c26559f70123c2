package engine

import (
	"slices"
	"sync"

	"github.com/signalbox/signalbox/pkg/instance"
)

// Changes is a set of instances that somebody has still to look at. Whoever
// looks finds them as they are by then: what happened in between is not kept.
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

// few are as many as room is kept for: a map never gets smaller, and a start notes
// all there are.
const few = 64

// Take empties the set.
func (c *Changes) Take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]string, 0, len(c.ids))
	for id := range c.ids {
		out = append(out, id)
	}
	if len(c.ids) <= few {
		clear(c.ids)
	} else {
		c.ids = map[string]bool{}
	}
	slices.Sort(out)
	return out
}

// Changes returns a set that Follow notes each instance in that it reads a
// commit of. Ask for it before Follow is called.
func (e *Engine) Changes() *Changes {
	c := NewChanges()
	e.changes = append(e.changes, c)
	return c
}

// Known returns what the view has of an instance, which may be of a while ago
// and, of a closed one, is the outline; ok is false if it has nothing.
func (e *Engine) Known(id string) (in instance.Instance, ok bool) {
	in = e.view.at(id).in
	return in, in.Exists()
}
