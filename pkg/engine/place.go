package engine

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/projection"
)

// place is where work is under way.
type place struct{ repo, state, role string }

// held is a place that an instance has, until a time unless the projection says otherwise.
type held struct {
	place
	until time.Time
}

// places counts the work that is under way, and knows the work that waits for a place. It
// is a projection of the claims in the log, so a new process knows the same.
type places struct {
	limits []Limit

	mu      sync.Mutex
	claims  map[string]*projection.State // instances that are limited and claimed
	taken   map[string]held              // by commits that are not in the projection yet
	given   map[string]held              // to work that was dispatched again and is not claimed yet
	waiting map[string]waiting
}

// waiting is work that waits for a place.
type waiting struct {
	at     place
	work   uint64
	limits []Limit
}

func newPlaces(limits []Limit) *places {
	return &places{limits: limits, claims: map[string]*projection.State{}, taken: map[string]held{}, given: map[string]held{}, waiting: map[string]waiting{}}
}

// givenFor is how long a place is kept for work that was dispatched again.
const givenFor = 5 * time.Second

// update takes the new state of an instance.
func (p *places) update(s *projection.State) {
	in := &s.Instance
	p.mu.Lock()
	defer p.mu.Unlock()
	if in.WaitsForPlace() && in.Closed == "" && !in.Paused {
		p.waiting[in.ID] = waiting{placeOf(*in), in.Work, p.limitsOf(*in)}
	} else {
		delete(p.waiting, in.ID)
	}
	if _, ok := claimed(in); ok && p.limited(in) {
		p.claims[in.ID] = s
		delete(p.given, in.ID)
	} else {
		delete(p.claims, in.ID)
	}
}

// placeOf returns where the owner of the state would work.
func placeOf(in instance.Instance) place { return place{in.Issue.Repo, in.State, in.Owner} }

// claimed returns where work is under way. That of a question to a role is not counted.
func claimed(in *instance.Instance) (place, bool) {
	if in.Claim == nil || in.Closed != "" {
		return place{}, false
	}
	if _, inquired := in.Inquiry(); inquired {
		return place{}, false
	}
	return place{in.Issue.Repo, in.State, in.Claim.Role}, true
}

// limited reports whether the work of an instance is limited, and counted.
func (p *places) limited(in *instance.Instance) bool {
	return len(p.limits) > 0 || in.Issue.Config != nil && len(in.Issue.Config.Limits) > 0
}

// limitsOf returns the limits of an instance: the operator's, and those of its repository.
func (p *places) limitsOf(in instance.Instance) []Limit {
	all := slices.Clip(p.limits)
	for _, l := range in.Issue.Configured().Limits {
		if l.AtOnce < 1 { // nobody writes such
			continue
		}
		all = append(all, Limit{Repo: literally(in.Issue.Repo), Limit: l})
	}
	return all
}

// take takes a place for an instance as it will be, until release. It returns the limit
// that leaves none.
func (p *places) take(in instance.Instance, at time.Time) (full Limit, ok bool) {
	where, works := claimed(&in)
	limits := p.limitsOf(in)
	if !works || len(limits) == 0 {
		return Limit{}, true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if full, ok = p.free(in.ID, where, limits, at); ok {
		p.taken[in.ID] = held{where, in.Claim.Lease}
	}
	return full, ok
}

// release gives back what take took: the projection has the claim, or it was not made.
func (p *places) release(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.taken, id)
}

// free returns the limit that leaves no place. Its caller holds the lock.
func (p *places) free(id string, where place, limits []Limit, at time.Time) (full Limit, ok bool) {
	for _, l := range limits {
		if !l.covers(where) {
			continue
		}
		under := map[string]bool{}
		for other, s := range p.claims {
			if where, _ := claimed(&s.Instance); other != id && s.Instance.Claim.Live(at) && l.covers(where) {
				under[other] = true
			}
		}
		for _, all := range []map[string]held{p.taken, p.given} {
			for other, h := range all {
				if other != id && at.Before(h.until) && l.covers(h.place) {
					under[other] = true
				}
			}
		}
		if len(under) >= l.AtOnce {
			return l, false
		}
	}
	return Limit{}, true
}

// admit returns the work that there is a place for now, which was dispatched first first,
// and keeps those places for a short time.
func (p *places) admit(at time.Time) (all []instance.Command) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.waiting) == 0 {
		return nil
	}
	ids := make([]string, 0, len(p.waiting))
	for id := range p.waiting {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b string) int { return cmp.Compare(p.waiting[a].work, p.waiting[b].work) })
	for _, id := range ids {
		w := p.waiting[id]
		if h, ok := p.given[id]; ok && at.Before(h.until) {
			continue
		}
		if _, ok := p.free(id, w.at, w.limits, at); ok {
			p.given[id] = held{w.at, at.Add(givenFor)}
			all = append(all, instance.Command{Instance: id, Actor: "orchestrator", Do: instance.Admit{Work: w.work}})
		}
	}
	return all
}
