package engine

import (
	"slices"

	"github.com/signalbox/signalbox/pkg/instance"
)

// stand is as much of an instance as it takes to read on in its log.
type stand struct {
	seq        uint64
	head       digest
	definition string
	own        bool // the view alone has it
	missing    bool // there are instances that the view does not know
	making     *making
}

func (v *view) stand(id string) stand {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.wake(id)
	s := stand{missing: v.whole != nil, making: v.making[id]}
	if n, ok := v.live[id]; ok {
		s.seq, s.head, s.definition, s.own = n.in.Seq, n.head, n.in.Definition, n.own
	} else if o, ok := v.ended[id]; ok {
		s.seq, s.head, s.definition = o.seq, o.head, o.end.definition
	}
	return s
}

// grow makes the next moment of an instance without a new entry, if nobody has
// the present one: most of what a replay reads nobody will ever look at. Its
// definition has no order.
func (v *view) grow(id string, seq uint64, c instance.Commit, chain string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	n, ok := v.live[id]
	if !ok || !n.own || n.in.Seq != seq || slices.ContainsFunc(c.Events, migrates) {
		return false
	}
	n.grow(c, chain)
	v.settle(n)
	return true
}

func migrates(e instance.Event) bool {
	_, ok := e.(instance.Migrated)
	return ok
}
