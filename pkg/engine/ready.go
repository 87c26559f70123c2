package engine

import (
	"context"
	"slices"
	"time"

	"github.com/signalbox/signalbox/pkg/instance"
)

// piece is work of a role that is not done, at one moment of its instance.
type piece struct {
	entry
	busy time.Time // until then nobody may have it: it is claimed, or it rests
}

// pieces are those of a role in one lifecycle, in no order.
func (v *view) pieces(workflow, role string) []piece {
	v.mu.Lock()
	defer v.mu.Unlock()
	var all []piece
	for id := range v.open[workflow] {
		n := v.all[id]
		if n.in.Worker() != role || n.in.Work == 0 || n.in.Paused || n.in.Parked != nil {
			continue
		}
		p := piece{n, n.rests}
		if n.in.Claim != nil {
			p.busy = n.in.Claim.Lease
		}
		all = append(all, p)
	}
	return all
}

// rank is where work stands among other: what is before is more urgent.
type rank struct {
	ordered bool    // whether the definition has an order at all
	order   []int64 // nil if it cannot be told: such work comes last
	work    uint64
}

func (r rank) before(o rank) bool {
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
func (e *Engine) ranked(ctx context.Context, p piece) (rank, error) {
	if p.rank != nil {
		return *p.rank, nil
	}
	def, err := e.Definitions.Hashed(ctx, p.in.Definition)
	if err != nil {
		return rank{}, err
	}
	r := rank{ordered: len(def.Order) > 0, work: p.in.Work}
	if r.ordered {
		r.order, _ = instance.Rank(def, p.in)
	}
	e.view.keep(p.in.ID, p.in.Seq, &r)
	return r, nil
}

// mostUrgent returns the most urgent work of a role that is free at the time, but
// for what was passed over. If none is, soonest may be: ok says which. The time
// is no earlier than what is known: another's clock may be ahead.
func (e *Engine) mostUrgent(ctx context.Context, workflow, role string, at time.Time, passed map[string]bool) (best, soonest piece, _ time.Time, _ error) {
	pieces := e.view.pieces(workflow, role)
	for _, p := range pieces {
		if p.in.UpdatedAt.After(at) {
			at = p.in.UpdatedAt
		}
	}
	var first rank
	for _, p := range pieces {
		r, err := e.ranked(ctx, p)
		switch {
		case ctx.Err() != nil:
			return best, soonest, at, ctx.Err()
		case err != nil || !r.ordered || passed[p.in.ID]: // of a definition nobody can read, nothing can be claimed
		case at.Before(p.busy):
			if !soonest.in.Exists() || p.busy.Before(soonest.busy) {
				soonest = p
			}
		case !best.in.Exists() || r.before(first):
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
