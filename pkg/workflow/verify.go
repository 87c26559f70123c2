package workflow

import (
	"slices"
)

// Verify proves what Load does not ask: that every run can go on, and that it
// ends unless people or the world keep it going. It returns what stands against
// it, each with its place; none means proven.
//
//   - Every state but an entry is reachable from the initial one by moves that can
//     really be made: see graph. (What only an entry leads to is another lifecycle.)
//   - Every state that is not final has a way out that needs more than one party to
//     fail. One that somebody owns has a signal that leads out or asks people, a limit
//     on a count that does so, or a timeout; either all such states have a timeout or
//     none has. One that waits has a signal, a deadline or an always rule that leads
//     out. (Cancel and override exist everywhere and do not count.)
//   - Between two words from outside a run makes a bounded number of moves before it
//     ends, rests or is put before people: see verifier.bounded. Words from outside are
//     signals other than claimed, ended and timeout_*, answers, and what people resolve;
//     rests are stays until a signal or for a time. No owner is given a state again at
//     once without a move, and no always rules follow one another round.
//   - Every result is decided: the last decide rule is unconditional, and no rule stands
//     after an unconditional one. A rule that leads to $previous has a target
//     wherever the instance came from.
//   - Every target of a rule is in the row it is taken from; every limit and gate is
//     of use somewhere; reactions are to what can happen.
//   - No guard reads a key of a map that it does not ask for first: where there is
//     none, nothing could be decided. (A state's own rules may read its visits.)
//   - No gate is a dead end or a way around another gate.
//   - Every owner is one of roles, if any are given; who is asked owns a state.
//
// People's overrides and what they migrate to are theirs to judge: they are no
// moves of the definition.
func Verify(d *Definition, roles ...string) []Problem {
	v := verifier{Definition: d}
	v.graph, v.from = d.graph()
	v.reachable()
	for _, s := range d.States {
		v.state(s)
		if s.Owner != "" && len(roles) > 0 && !slices.Contains(roles, s.Owner) {
			v.unknown(s.at, "owner", s.Owner, roles)
		}
	}
	v.timeouts()
	v.hops()
	v.cycles()
	for _, l := range d.Limits {
		v.used("limit "+l.Name, l.To, l.toAt)
	}
	for i := range d.Gates {
		v.gate(i)
	}
	v.guards()
	return v.problems
}

type verifier struct {
	*Definition
	graph graph
	from  map[string]map[string]bool // by state: where it is entered from
	problems
}

func (v *verifier) reachable() {
	reached := v.graph.reach(v.Initial, func(step) bool { return true })
	for _, s := range v.States {
		if !v.Opens(s.Name) && !reached[s.Name] {
			v.add(s.at, "%s cannot be reached from %s", s.Name, v.Initial)
		}
	}
}

// timeouts holds that all work has a deadline if any has.
func (v *verifier) timeouts() {
	some := slices.ContainsFunc(v.States, func(s State) bool { return s.Kind == Work && s.Timeout > 0 })
	for _, s := range v.States {
		if some && s.Kind == Work && s.Timeout == 0 {
			v.add(s.at, "%s has no timeout, and other work has one", s.Name)
		}
	}
}

// used reports targets that no row has.
func (v *verifier) used(what string, to []string, at []Position) {
	for i, name := range to {
		if !slices.ContainsFunc(v.States, func(s State) bool { return s.permits(name) }) {
			v.add(at[i], "%s names %s, which no row has", what, name)
		}
	}
}

// guards reports those that fail wherever a key is missing.
func (v *verifier) guards() {
	own := lookup{}
	asks := func(g Guard) {
		for _, r := range g.unasked {
			if r != own {
				v.add(g.at, "guard %q fails where there is no %s: ask first, '%s' in %s", g.Source, r, r.key, r.of)
			}
		}
	}
	for _, g := range v.Order {
		asks(g)
	}
	for _, r := range v.Resolves {
		asks(r.When)
	}
	for _, l := range v.Limits {
		asks(l.When)
	}
	for _, g := range v.Gates {
		asks(g.Require)
	}
	for _, s := range v.States {
		own = lookup{"instance.visits", s.Name}
		for _, rules := range s.rules() {
			for _, r := range rules {
				asks(r.When)
			}
		}
		for _, q := range s.Asks {
			asks(q.When)
		}
		for _, sp := range s.Spawns {
			asks(sp.When)
		}
	}
}

// gate checks the i-th gate. The engine asks gates in order and asks the later
// ones about what an earlier one chose instead; so no gate may choose what it or
// an earlier one guards.
func (v *verifier) gate(i int) {
	g := v.Gates[i]
	v.used("gate "+g.Name, g.To, g.toAt)
	v.used("gate "+g.Name, g.Instead, g.insteadAt)
	for _, s := range v.States {
		if _, guarded := s.first(g.To); !guarded {
			continue
		}
		instead, ok := s.first(g.Instead)
		if !ok {
			v.add(g.at, "gate %s is a dead end in %s: no instead of it is in that row", g.Name, s.Name)
		}
		for _, earlier := range v.Gates[:i+1] {
			if ok && slices.Contains(earlier.To, instead) {
				v.add(g.at, "gate %s sends %s to %s, which gate %s guards", g.Name, s.Name, instead, earlier.Name)
			}
		}
	}
}
