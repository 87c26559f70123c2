package instance

import (
	"maps"
	"slices"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// Evolve returns the instance after a commit. It reads no definition, never fails,
// and ignores nil: an event that a newer build wrote and this one cannot decode.
func Evolve(in Instance, c Commit) Instance {
	in.Evolve(c)
	return in
}

// Evolve applies a commit in place. It does not write to what the instance refers
// to, so copies made before stay unchanged. Only the owner of the value may call it.
func (in *Instance) Evolve(c Commit) {
	for _, e := range c.Events {
		if e != nil {
			e.apply(in, c)
		}
	}
	in.Seq, in.UpdatedAt = c.Seq, c.At
}

// Fold replays the commits of an instance, the oldest first.
func Fold(id string, commits []Commit) Instance {
	in := Instance{ID: id}
	for _, c := range commits {
		in = Evolve(in, c)
	}
	return in
}

// enter starts a stay in a state, with the visits counted and per-stay fields reset.
func (in *Instance) enter(c Commit, state, owner string, kind workflow.Kind, timeout time.Duration) {
	at := c.At
	n, seen := len(in.Visits), in.Visited(state) > 0
	if !seen {
		n++
	}
	visits := make([]Visit, n)
	copy(visits, in.Visits)
	for i := range in.Visits {
		if visits[i].State == in.State {
			visits[i].Total += max(0, at.Sub(in.EnteredAt))
		}
		if visits[i].State == state {
			visits[i].Count++
		}
	}
	if !seen {
		visits[n-1] = Visit{State: state, Count: 1}
	}
	in.Visits = visits
	if in.Kind == workflow.Wait {
		in.LeftWait = LeftWait{in.State, in.DeadlinesSince(), in.Level}
	}
	in.State, in.Owner, in.Kind = state, owner, kind
	in.Entered, in.EnteredAt = c.Seq, at
	in.Timeout, in.Level, in.Faults, in.Since = timeout, "", 0, time.Time{}
	in.Parked, in.Woken = nil, false
	if kind == workflow.Final {
		in.Closed = Ended
	}
}

// merged returns all with the entries of over added or replaced. It writes to neither.
func merged(all, over map[string]string) map[string]string {
	if len(over) == 0 {
		return all
	}
	all = maps.Clone(all)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, over)
	return all
}

// replaceByName returns all with ev in place of the evidence of the same name.
func replaceByName(all []Evidence, ev Evidence) []Evidence {
	kept := slices.DeleteFunc(slices.Clone(all), func(o Evidence) bool { return o.Name == ev.Name })
	return append(kept, ev)
}

// appended returns a copy of s with v at its end. The copy has no spare capacity:
// nothing is ever appended in place.
func appended[T any](s []T, v T) []T {
	longer := make([]T, len(s)+1)
	copy(longer, s)
	longer[len(s)] = v
	return longer
}
