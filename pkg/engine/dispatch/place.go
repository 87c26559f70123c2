package dispatch

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/projection"
)

// scope is what limits count work by.
type scope struct{ repo, state, role string }

// reservation keeps a place for an instance, until a time unless the projection says otherwise.
type reservation struct {
	scope
	until time.Time
}

// places counts the work that is under way, and has the work that waits for a place. It
// is a projection of the claims in the log, so a new process counts the same. It is safe
// for concurrent use.
type places struct {
	limits []Limit

	mu       sync.Mutex
	occupied occupied
	waiting  map[string]waiting
	unfunded map[string]*projection.State // instances whose work waits for a budget
}

// occupied are the places that instances have. It has no lock: places has.
type occupied struct {
	claims   map[string]*projection.State // instances that are limited and claimed
	reserved map[string]reservation       // for commits that are not in the projection yet
	admitted map[string]reservation       // for work that was dispatched again and is not claimed yet
}

// waiting is work that waits for a place.
type waiting struct {
	scope  scope
	work   uint64
	limits []Limit
}

func newPlaces(limits []Limit) *places {
	none := occupied{map[string]*projection.State{}, map[string]reservation{}, map[string]reservation{}}
	return &places{limits: limits, occupied: none, waiting: map[string]waiting{}, unfunded: map[string]*projection.State{}}
}

// admittedFor is how long a place is kept for work that was dispatched again.
const admittedFor = 5 * time.Second

// update replaces the state of an instance.
func (p *places) update(s *projection.State) {
	in := &s.Instance
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.waiting, in.ID)
	delete(p.unfunded, in.ID)
	switch held := in.Closed == "" && !in.Paused; {
	case held && in.WaitsFor() == instance.ForPlace:
		p.waiting[in.ID] = waiting{scopeOf(*in), in.Work, p.limitsOf(*in)}
	case held && in.WaitsFor() == instance.ForBudget:
		p.unfunded[in.ID] = s
	}
	if _, ok := claimed(in); ok && p.limited(in) {
		p.occupied.claims[in.ID] = s
		delete(p.occupied.admitted, in.ID)
	} else {
		delete(p.occupied.claims, in.ID)
	}
}

// scopeOf returns the scope of the work that the owner of the state would do.
func scopeOf(in instance.Instance) scope { return scope{in.Issue.Repo, in.State, in.Owner} }

// claimed returns the scope of the work that is claimed. Work on a question to a role is
// not counted.
func claimed(in *instance.Instance) (scope, bool) {
	if in.Claim == nil || in.Closed != "" {
		return scope{}, false
	}
	if _, inquired := in.Inquiry(); inquired {
		return scope{}, false
	}
	return scope{in.Issue.Repo, in.State, in.Claim.Role}, true
}

// limited reports whether the work of an instance is limited, and counted.
func (p *places) limited(in *instance.Instance) bool {
	return len(p.limits) > 0 || in.Issue.Config != nil && len(in.Issue.Config.Limits) > 0
}

// limitsOf returns the limits of an instance: the operator's, and those of its repository.
func (p *places) limitsOf(in instance.Instance) []Limit {
	all := slices.Clip(p.limits)
	for _, l := range in.Issue.Configured().Limits {
		if l.AtOnce < 1 { // a stored limit of an older build
			continue
		}
		all = append(all, Limit{Repo: exactly(in.Issue.Repo), Limit: l})
	}
	return all
}

// Reserve keeps a place for an instance as the commit c would leave it, until release is
// called: then the projection has the claim, or no claim was made. full is the limit that
// leaves no place, if ok is false. An instance that the commit does not claim needs none.
func (p *places) Reserve(in instance.Instance, c instance.Commit) (release func(), full Limit, ok bool) {
	release = func() {}
	if !slices.ContainsFunc(c.Events, claims) {
		return release, Limit{}, true
	}
	id := in.ID
	in = instance.Evolve(in, c)
	work, ok := claimed(&in)
	limits := p.limitsOf(in)
	if !ok || len(limits) == 0 {
		return release, Limit{}, true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if full, ok = p.occupied.free(id, work, limits, c.At); ok {
		p.occupied.reserved[id] = reservation{work, in.Claim.Lease}
		release = func() { p.release(id) }
	}
	return release, full, ok
}

func claims(e instance.Event) bool {
	_, ok := e.(instance.Claimed)
	return ok
}

// release ends a reservation.
func (p *places) release(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.occupied.reserved, id)
}

// free reports whether each of the limits leaves a place, or returns the one that does not.
func (o occupied) free(id string, work scope, limits []Limit, at time.Time) (full Limit, ok bool) {
	for _, l := range limits {
		if l.covers(work) && o.count(id, l, at) >= l.AtOnce {
			return l, false
		}
	}
	return Limit{}, true
}

// count returns how many places a limit counts, without that of the instance id.
func (o occupied) count(id string, l Limit, at time.Time) int {
	counted := map[string]bool{}
	for other, s := range o.claims {
		if work, _ := claimed(&s.Instance); other != id && s.Instance.Claim.Live(at) && l.covers(work) {
			counted[other] = true
		}
	}
	for _, all := range []map[string]reservation{o.reserved, o.admitted} {
		for other, r := range all {
			if other != id && at.Before(r.until) && l.covers(r.scope) {
				counted[other] = true
			}
		}
	}
	return len(counted)
}

// Admit returns the commands that dispatch the work for which there is a place now, in the
// order in which the work was dispatched first. It keeps those places for a short time.
func (p *places) Admit(at time.Time) (all []instance.Command) {
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
		if r, ok := p.occupied.admitted[id]; ok && at.Before(r.until) {
			continue
		}
		if _, ok := p.occupied.free(id, w.scope, w.limits, at); ok {
			p.occupied.admitted[id] = reservation{w.scope, at.Add(admittedFor)}
			all = append(all, instance.Command{Instance: id, Actor: "orchestrator", Do: instance.Admit{Work: w.work}})
		}
	}
	return all
}

// Fund returns the commands that dispatch the work that waits for a budget, where permitted
// says that there is one now.
func (p *places) Fund(permitted func(in instance.Instance) bool) (all []instance.Command) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, s := range p.unfunded {
		if permitted(s.Instance) {
			all = append(all, instance.Command{Instance: id, Actor: "orchestrator", Do: instance.Admit{Work: s.Instance.Work}})
		}
	}
	return all
}
