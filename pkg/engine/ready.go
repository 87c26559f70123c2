package engine

import (
	"context"
	"slices"
	"time"

	"github.com/signalbox/signalbox/pkg/instance"
)

// place is where work waits: a role in a lifecycle.
type place struct{ workflow, role string }

// piece is work of a role that is not done, and all that a choice looks at.
type piece struct {
	id, definition string
	seq, work      uint64
	busy           time.Time // until then nobody may have it: it is claimed, or it rests
	updated        time.Time
	rank           *rank // nil if nobody asked yet
}

// works is the role that has something to do, if any has.
func (n *entry) works() string {
	if n.in.Closed != "" || n.in.Work == 0 || n.in.Paused || n.in.Parked != nil {
		return ""
	}
	return n.in.Worker()
}

// piece returns the work of an instance, if there is any.
func (n *entry) piece() (place, *piece) {
	role := n.works()
	if role == "" {
		return place{}, nil
	}
	p := &piece{id: n.in.ID, definition: n.in.Definition, seq: n.in.Seq, work: n.in.Work, busy: n.rests, updated: n.in.UpdatedAt}
	if n.in.Claim != nil {
		p.busy = n.in.Claim.Lease
	}
	return place{n.in.Workflow, role}, p
}

// arrange has the view know the work of an instance as it is now, if it may have
// to be chosen among other. The caller holds the view.
func (v *view) arrange(n *entry, ranks bool) {
	if old, ok := v.places[n.in.ID]; ok {
		delete(v.work[old], n.in.ID)
		delete(v.places, n.in.ID)
	}
	if !ranks {
		return
	}
	at, p := n.piece()
	if p == nil {
		return
	}
	if v.work[at] == nil {
		v.work[at] = map[string]*piece{}
	}
	v.work[at][p.id], v.places[p.id] = p, at
}

// pieces are those of a place, in no order.
func (v *view) pieces(at place) []piece {
	v.mu.Lock()
	defer v.mu.Unlock()
	all := make([]piece, 0, len(v.work[at]))
	for _, p := range v.work[at] {
		all = append(all, *p)
	}
	return all
}

// keep keeps the rank of a piece for as long as its instance stays as it is.
func (v *view) keep(at place, p piece, r *rank) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if now := v.work[at][p.id]; now != nil && now.seq == p.seq {
		now.rank = r
	}
}

// rank is where work stands among other: what is before is more urgent.
type rank struct {
	ordered bool    // whether the definition has an order at all
	order   []int64 // nil if it cannot be told: such work comes last
	work    uint64
}

func (r *rank) before(o rank) bool {
	if (r.order == nil) != (o.order == nil) {
		return r.order != nil
	}
	if c := slices.Compare(r.order, o.order); c != 0 {
		return c < 0
	}
	return r.work < o.work
}

// ranked returns the rank of a piece. It changes with the instance only, so the
// view keeps it.
func (e *Engine) ranked(ctx context.Context, at place, p piece) (*rank, error) {
	if p.rank != nil {
		return p.rank, nil
	}
	def, err := e.Definitions.Hashed(ctx, p.definition)
	if err != nil {
		return nil, err
	}
	r := &rank{ordered: len(def.Order) > 0, work: p.work}
	if r.ordered {
		r.order, _ = instance.Rank(def, e.view.at(p.id).in)
	}
	e.view.keep(at, p, r)
	return r, nil
}

// mostUrgent returns the most urgent work of a role that is free at the time, but
// for what was passed over, and what will be free soonest. Either may be none,
// without an id. The time is no earlier than what is known: another's clock may
// be ahead.
func (e *Engine) mostUrgent(ctx context.Context, where place, at time.Time, passed map[string]bool) (best, soonest piece, _ time.Time, _ error) {
	pieces := e.view.pieces(where)
	for _, p := range pieces {
		if p.updated.After(at) {
			at = p.updated
		}
	}
	var first *rank
	for _, p := range pieces {
		r, err := e.ranked(ctx, where, p)
		switch {
		case ctx.Err() != nil:
			return best, soonest, at, ctx.Err()
		case err != nil || !r.ordered || passed[p.id]: // of a definition nobody can read, nothing can be claimed
		case at.Before(p.busy):
			if soonest.id == "" || p.busy.Before(soonest.busy) {
				soonest = p
			}
		case best.id == "" || r.before(*first):
			best, first = p, r
		}
	}
	return best, soonest, at, nil
}

// rest is how long work that came back because of a fault is left alone, after
// so many faults: 1, 4, 16, 60 seconds. Otherwise the most urgent would be tried
// by one worker after the other, at once, until its faults are too many.
func rest(faults int) time.Duration {
	return min(time.Second<<(2*min(max(faults-1, 0), 3)), time.Minute)
}
