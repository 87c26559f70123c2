package dispatch

import (
	"fmt"
	"time"
)

// Contents is all that a Dispatcher knows of work.
type Contents struct {
	Ranked map[string]Item
	Queued map[string]string // roles, by instance
	Direct map[string]Item
}

// Item is a piece of work.
type Item struct {
	Key       QueueKey
	Seq, Work uint64
	Free      time.Time
}

// Contents returns what d knows. It names roles whose queue is miscounted as queued.
func (d *Dispatcher) Contents() Contents {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := Contents{map[string]Item{}, map[string]string{}, map[string]Item{}}
	for key, items := range d.ranked.items {
		for id, item := range items {
			c.Ranked[id] = Item{key, item.state.Instance.Seq, item.state.Instance.Work, item.free}
		}
	}
	counts := map[string]int{}
	for id, item := range d.queued {
		c.Queued[id] = item.role
		counts[item.role]++
	}
	for role, q := range d.roles {
		if n := counts[role]; n != q.visibility.all {
			c.Queued[role] = fmt.Sprintf("%d are counted, there are %d", q.visibility.all, n)
		}
	}
	for id, l := range d.direct {
		c.Direct[id] = Item{Work: l.Work, Free: l.free}
	}
	return c
}
