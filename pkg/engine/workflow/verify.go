package workflow

import (
	"slices"
	"strings"
)

// Verify proves what Load does not ask: that every run can go on, and that it
// ends unless people or the world keep it going. It returns what stands against
// it, each with its place; none means proven.
//
//   - Every state but an entry is reachable from the initial one by moves that can
//     really be made: see graph. (What only an entry leads to is another lifecycle.)
//   - Every state that is not final has a way out that needs more than one party to
//     fail. One that has an owner has a signal that leads out or asks people, a limit
//     on a count that does so, or a timeout; either all such states have a timeout or
//     none has. One that waits has a signal, a deadline or an always rule that leads
//     out. (Cancel and override exist everywhere and do not count.)
//   - Between two inputs from outside a run makes a bounded number of moves before it
//     ends, rests or is put before people: see verifier.bounded. Inputs are
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
//   - No role that writes the code gives what a move is decided by: see verifier.judges.
//   - Every owner is one of roles, if any are given. A role that is asked owns a state.
//     Every role can do what the state's work names.
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
	v.judges()
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

// gate checks the i-th gate. The engine asks gates in order and asks the later ones about
// what an earlier one chose instead. So no gate may choose what it or an earlier one
// guards.
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

func (v *verifier) state(s State) {
	v.spawns(s)
	if s.Kind == Final {
		return
	}
	v.work(s)
	v.rules(s, s.Always)
	v.rules(s, s.Decide)
	for _, signal := range sortedKeys(s.On) {
		v.rules(s, s.On[signal])
		v.reaction(s, signal)
	}
	v.asks(s)
	v.exits(s)
	if s.Kind != Work {
		return
	}
	if n := len(s.Decide); n == 0 || !s.Decide[n-1].When.Always() {
		v.add(s.at, "%s leaves results undecided: its last decide rule must have no when", s.Name)
	}
	for _, r := range s.Always {
		if r.When.Always() {
			v.add(r.at, "%s never gets to work: this always rule has no when", s.Owner)
		}
	}
	for _, r := range slices.Concat(s.Always, s.Decide) {
		if r.Stay.Source == stayNow {
			v.add(r.Stay.at, "%s may be given to %s again for ever: no count grows by staying; "+
				"want a move to %s, or to stay for a time or until a signal", s.Name, s.Owner, s.Name)
		}
	}
}

// exits asks for a way out that is not the owner's alone.
func (v *verifier) exits(s State) {
	led, signalled := false, false // does a rule lead out, and one that answers a signal
	for _, signal := range sortedKeys(s.On) {
		for _, r := range s.On[signal] {
			if signal != OnClaimed && v.out(s, r) {
				led, signalled = true, true
			}
		}
	}
	for _, r := range s.Always {
		led = led || v.out(s, r)
	}
	limited := slices.ContainsFunc(v.Limits, func(l Rule) bool { return len(l.When.bounds()) > 0 && v.out(s, l) })
	switch {
	case len(s.Next) == 0 && !led:
		v.add(s.at, "%s has no way out and is not final", s.Name)
	case s.Kind == Wait && !led:
		v.add(s.at, "%s waits for nothing: no signal and no always rule leads out of it", s.Name)
	case s.Kind == Work && !signalled && !limited && s.Timeout == 0:
		v.add(s.at, "%s depends on %s alone: no limit on a count and no signal leads out of it, and it has no timeout", s.Name, s.Owner)
	}
}

// out reports whether a rule leads somewhere else or asks people.
func (v *verifier) out(s State, r Rule) bool {
	targets := s.targets(r.To, v.from[s.Name])
	return r.Escalate || slices.ContainsFunc(targets, func(to string) bool { return to != s.Name })
}

// rules checks rules that are tried in order in s.
func (v *verifier) rules(s State, rules []Rule) {
	for i, r := range rules {
		if r.When.Always() && i < len(rules)-1 {
			v.add(rules[i+1].at, "this rule of %s is never tried: the one before it always holds", s.Name)
		}
		for j, to := range r.To {
			switch {
			case to == Previous:
				v.previous(s, r, r.toAt[j])
			case !s.permits(to):
				v.problems = append(v.problems, Problem{r.toAt[j], to + " is not in the row of " + s.Name, Nearest(to, s.row())})
			}
		}
	}
}

// previous checks that there is a target wherever the instance came from.
func (v *verifier) previous(s State, r Rule, at Position) {
	if slices.ContainsFunc(r.To, s.permits) {
		return
	}
	if v.Opens(s.Name) {
		v.add(at, "an instance opened in %s has no previous state: name another after %s", s.Name, Previous)
	}
	for _, from := range sortedKeys(v.from[s.Name]) {
		if from != opened && from != s.Name && !s.permits(from) {
			v.add(at, "%s may be %s, which is not in the row of %s", Previous, from, s.Name)
		}
	}
}

// reaction checks that a signal of the engine can happen in the state, and that
// the claiming role keeps the work.
func (v *verifier) reaction(s State, signal string) {
	rules := s.On[signal]
	if len(rules) == 0 {
		return
	}
	at := rules[0].at
	switch {
	case strings.HasPrefix(signal, "timeout_") && !slices.Contains([]string{OnWarning, OnAlert, OnEscalation}, signal):
		v.unknown(at, "deadline", signal, []string{OnWarning, OnAlert, OnEscalation})
	case strings.HasPrefix(signal, "timeout_") && s.Timeout == 0:
		v.add(at, "%s has no timeout: it never gets %s", s.Name, signal)
	case signal == OnClaimed && s.Kind != Work:
		v.add(at, "nobody claims %s: it has no owner", s.Name)
	}
	for _, r := range rules {
		if signal != OnClaimed || s.Kind != Work {
			continue
		}
		if len(r.To) == 0 {
			v.add(r.at, "claiming moves: want to")
		}
		targets := s.targets(r.To, v.from[s.Name])
		for _, to := range targets {
			if next, _ := v.State(to); next.Kind != Work || next.Owner != s.Owner {
				v.add(r.at, "%s claims %s and would hold %s, which is not its work", s.Owner, s.Name, to)
			}
		}
	}
}

func (v *verifier) asks(s State) {
	for _, q := range s.Asks {
		if len(v.OwnedBy(q.To)) == 0 {
			v.unknown(q.at, "role", q.To, v.Roles())
		}
	}
}

// spawns checks what can be known here: the definition's own name.
func (v *verifier) spawns(s State) {
	for _, sp := range s.Spawns {
		if sp.Workflow != v.Name {
			continue
		}
		if sp.State != "" && !v.Opens(sp.State) {
			v.unknown(sp.at, "entry", sp.State, append([]string{v.Initial}, v.Entries...))
		}
		if sp.When.Always() {
			v.add(sp.at, "%s opens another of itself whenever it comes to %s: want a when", v.Name, s.Name)
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
