package workflow

import (
	"slices"
	"strings"
)

func (v *verifier) state(s State) {
	v.spawns(s)
	if s.Kind == Final {
		return
	}
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
			v.add(r.Stay.at, "%s may be given to %s again for ever: no count grows by staying; want a move to %s, or to stay for a time or until a signal", s.Name, s.Owner, s.Name)
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
	targets, _ := s.targets(r.To, v.from[s.Name])
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
				v.problems = append(v.problems, Problem{r.toAt[j], to + " is not in the row of " + s.Name, nearest(to, s.row())})
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

// reaction checks that what the engine tells a state can happen there, and that
// who claims keeps the work.
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
		v.add(at, "%s has no timeout: nothing ever tells it %s", s.Name, signal)
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
		targets, _ := s.targets(r.To, v.from[s.Name])
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
