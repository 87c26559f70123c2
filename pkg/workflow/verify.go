package workflow

import (
	"slices"
	"strings"
)

// Verify proves what Load does not ask: that every run can go on and must end.
// It returns what stands against it, each with its place; none means proven.
//
//   - Every state is reachable from the initial one by moves that can really be made.
//   - Every state that is not final has a way out that needs more than one party
//     to fail: a state somebody owns has a limit that ends the run or a signal; one
//     that waits has a signal. (Cancel and override exist everywhere and do not count.)
//   - Every cycle passes a state from which a budget ends the run: see Definition.Limits;
//     a budget compares instance.returns or instance.iteration with a bound.
//   - Every result is decided: the last decide rule is unconditional, and no rule stands
//     after an unconditional one.
//   - Every target of a rule is in the row it is taken from; every limit and gate is of use somewhere.
//   - No gate is a dead end or a way around another gate.
//   - Every owner is one of roles, if any are given.
func Verify(d *Definition, roles ...string) []Problem {
	v := verifier{Definition: d}
	v.reachable()
	for _, s := range d.States {
		v.state(s)
		if s.Owner != "" && len(roles) > 0 && !slices.Contains(roles, s.Owner) {
			v.unknown(s.at, "owner", s.Owner, roles)
		}
	}
	v.cycles()
	for _, l := range d.Limits {
		v.used("limit "+l.Name, l.To, l.toAt)
	}
	for i := range d.Gates {
		v.gate(i)
	}
	return v.problems
}

type verifier struct {
	*Definition
	problems
}

func (v *verifier) reachable() {
	reached := v.reach(v.Initial, func(State) bool { return true })
	for _, s := range v.States {
		if s.Name != v.Initial && !reached[s.Name] {
			v.add(s.at, "%s cannot be reached from %s", s.Name, v.Initial)
		}
	}
}

// reach is every state that can be entered by one move or more from a state,
// going only through states that pass.
func (v *verifier) reach(from string, pass func(State) bool) map[string]bool {
	reached := map[string]bool{}
	var visit func(string)
	visit = func(name string) {
		s, _ := v.State(name)
		for _, to := range v.moves(s) {
			if next, _ := v.State(to); !reached[to] && pass(next) {
				reached[to] = true
				visit(to)
			}
		}
	}
	visit(from)
	return reached
}

func (v *verifier) state(s State) {
	if s.Kind == Final {
		return
	}
	v.rules(s, s.Decide)
	signalled := false
	for _, signal := range sortedKeys(s.On) {
		v.rules(s, s.On[signal])
		for _, r := range s.On[signal] {
			_, ok := s.first(r.To)
			signalled = signalled || ok
		}
	}
	switch {
	case len(s.Next) == 0:
		v.add(s.at, "%s has no way out and is not final", s.Name)
	case s.Kind == Wait && !signalled:
		v.add(s.at, "%s waits for nothing: no signal leads out of it", s.Name)
	case s.Kind == Work && !signalled && !v.ends(s):
		v.add(s.at, "%s depends on %s alone: no budget of limits and no signal leads out of it", s.Name, s.Owner)
	}
	if n := len(s.Decide); s.Kind == Work && (n == 0 || !s.Decide[n-1].When.Always()) {
		v.add(s.at, "%s leaves results undecided: its last decide rule must have no when", s.Name)
	}
}

// rules checks rules that are tried in order in s.
func (v *verifier) rules(s State, rules []Rule) {
	for i, r := range rules {
		if r.When.Always() && i < len(rules)-1 {
			v.add(rules[i+1].at, "this rule of %s is never tried: the one before it always holds", s.Name)
		}
		for j, to := range r.To {
			if !s.permits(to) {
				v.problems = append(v.problems, Problem{r.toAt[j], to + " is not in the row of " + s.Name, nearest(to, s.row())})
			}
		}
	}
}

func (s State) row() []string {
	row := make([]string, len(s.Next))
	for i, t := range s.Next {
		row[i] = t.To
	}
	return row
}

// cycles takes out every state where a budget ends the run; among the rest no
// state may reach itself.
func (v *verifier) cycles() {
	endless := func(s State) bool { return s.Kind != Final && !v.ends(s) }
	reached := map[string]map[string]bool{}
	for _, s := range v.States {
		if endless(s) {
			reached[s.Name] = v.reach(s.Name, endless)
		}
	}
	told := map[string]bool{}
	for _, s := range v.States {
		if told[s.Name] || !reached[s.Name][s.Name] {
			continue
		}
		var cycle []string
		for _, other := range v.States {
			if reached[s.Name][other.Name] && reached[other.Name][s.Name] {
				cycle = append(cycle, other.Name)
				told[other.Name] = true
			}
		}
		v.add(s.at, "a run may go round %s for ever: no limit compares instance.returns or instance.iteration with a bound and ends it there", strings.Join(cycle, ", "))
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
