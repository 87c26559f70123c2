package engine

import (
	"sync"
	"sync/atomic"
)

// desk is where the work of one lifecycle is handed out. Its commits go in
// together; a claim that takes the most urgent goes in alone, so that what it
// chose among is still so when it is in the log.
type desk struct {
	gate  gate
	doubt atomic.Bool // a commit may be in the log that the view does not know
}

// desks are as many as there are lifecycles.
type desks struct {
	mu  sync.Mutex
	all map[string]*desk
}

func (d *desks) of(workflow string) *desk {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.all == nil {
		d.all = map[string]*desk{}
	}
	if d.all[workflow] == nil {
		d.all[workflow] = &desk{}
	}
	return d.all[workflow]
}
