package dispatch

import (
	"context"
	"slices"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/projection"
)

// QueueKey is where work waits: a role in a workflow.
type QueueKey struct{ Workflow, Role string }

// workItem is work that is not done.
type workItem struct {
	state *projection.State
	free  time.Time // until then it is claimed, or rests
	rank  *rank     // nil if it was not asked for yet
}

// newWorkItem returns the work of an instance; ready is false if there is none.
func newWorkItem(s *projection.State) (item workItem, ready bool) {
	if s.Ready() == "" {
		return workItem{}, false
	}
	item = workItem{state: s, free: s.RestsUntil()}
	if s.Instance.Claim != nil {
		item.free = s.Instance.Claim.Lease
	}
	return item, true
}

// rankedWork is the work of lifecycles with an order.
type rankedWork struct {
	items map[QueueKey]map[string]*workItem // by instance
	keys  map[string]QueueKey               // by instance
}

// update replaces the work of an instance, by none if there is none.
func (r *rankedWork) update(id string, item workItem, ready bool) {
	if key, ok := r.keys[id]; ok {
		delete(r.items[key], id)
		delete(r.keys, id)
	}
	if !ready {
		return
	}
	key := QueueKey{item.state.Instance.Workflow, item.state.Ready()}
	if r.items[key] == nil {
		r.items[key] = map[string]*workItem{}
	}
	kept := item
	r.items[key][id], r.keys[id] = &kept, key
}

// rank is the place of work among other work.
type rank struct {
	ordered bool    // the definition has an order
	order   []int64 // nil if it cannot be computed: such work comes last
	work    uint64
}

// before reports whether r is more urgent than o.
func (r *rank) before(o *rank) bool {
	if (r.order == nil) != (o.order == nil) {
		return r.order != nil
	}
	if c := slices.Compare(r.order, o.order); c != 0 {
		return c < 0
	}
	return r.work < o.work
}

// Choice is what MostUrgent found.
type Choice struct {
	Best    *projection.State // the most urgent work that is free; nil if none is
	At      time.Time         // when it is free
	Soonest *projection.State // the work that is free next; nil if there is none
	Free    time.Time         // when that is
}

// MostUrgent returns the most urgent work at a queue that is free at the given time, but
// for instances in skip. The time is moved to the newest update of that work: the clock
// of another process may be ahead. The error is that of ctx.
func (d *Dispatcher) MostUrgent(ctx context.Context, key QueueKey, at time.Time, skip map[string]bool) (Choice, error) {
	items := d.itemsAt(key)
	c := Choice{At: at}
	for _, item := range items {
		if updated := item.state.Instance.UpdatedAt; updated.After(c.At) {
			c.At = updated
		}
	}
	var first *rank
	for _, item := range items {
		r, err := d.rankOf(ctx, key, item)
		switch {
		case ctx.Err() != nil:
			return Choice{}, ctx.Err()
		case err != nil || !r.ordered || skip[item.state.Instance.ID]: // under a definition that cannot be read, nothing can be claimed
		case c.At.Before(item.free):
			if c.Soonest == nil || item.free.Before(c.Free) {
				c.Soonest, c.Free = item.state, item.free
			}
		case c.Best == nil || r.before(first):
			c.Best, first = item.state, r
		}
	}
	return c, nil
}

// itemsAt copies the work at a queue.
func (d *Dispatcher) itemsAt(key QueueKey) []workItem {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := make([]workItem, 0, len(d.ranked.items[key]))
	for _, item := range d.ranked.items[key] {
		all = append(all, *item)
	}
	return all
}

// rankOf returns the rank of work. It depends on the state only, so it is kept with it.
func (d *Dispatcher) rankOf(ctx context.Context, key QueueKey, item workItem) (*rank, error) {
	if item.rank != nil {
		return item.rank, nil
	}
	in := item.state.Instance
	def, err := d.definitions.Hashed(ctx, in.Definition)
	if err != nil {
		return nil, err
	}
	r := &rank{ordered: len(def.Order) > 0, work: in.Work}
	if r.ordered {
		r.order, _ = instance.Rank(def, in)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if now := d.ranked.items[key][in.ID]; now != nil && now.state == item.state {
		now.rank = r
	}
	return r, nil
}
