package workflow

import "strings"

// hops reports always rules that follow one another round: nothing would stop them.
func (v *verifier) hops() {
	always := graph{}
	for _, s := range v.States {
		always[s.Name] = v.turned(s, s.taken(s.Always, v.from[s.Name]))
	}
	v.circles(always, func(step) bool { return true }, "always rules lead round %s without anybody's doing")
}

// cycles removes every state that is passed a bounded number of times between
// two inputs from outside. A state of a cycle without any of these is removed if
// bounded reports it. A cycle that is left is a problem.
func (v *verifier) cycles() {
	done := map[string]bool{}
	own := func(m step) bool { return !m.news && !done[m.to] }
	for again := true; again; {
		again = false
		var more []string
		for _, s := range v.States {
			if circle := v.graph.circle(s.Name, own); len(circle) > 0 && v.bounded(s, circle) {
				more = append(more, s.Name)
			}
		}
		for _, name := range more {
			done[name], again = true, true
		}
	}
	v.circles(v.graph, own, "a run may go round %s for ever: nothing there compares a count with a bound and leads out")
}

// circles reports every circle of a graph once.
func (v *verifier) circles(g graph, pass func(step) bool, format string) {
	told := map[string]bool{}
	for _, s := range v.States {
		if told[s.Name] {
			continue
		}
		circle := g.circle(s.Name, pass)
		var names []string
		for _, other := range v.States {
			if circle[other.Name] {
				names = append(names, other.Name)
				told[other.Name] = true
			}
		}
		if names != nil {
			v.add(s.at, format, strings.Join(names, ", "))
		}
	}
}

// bounded reports whether a run that goes round circle passes s a bounded number of times.
// Then it leaves the circle, ends or is put before people. It does if
//
//   - a limit must hold from some pass on, because it bounds a count that every pass
//     raises, and neither it nor a limit before it leads from s back into the circle; or
//   - an always rule of s does so, tried on every entry.
//
// Which counts every pass of s raises: see raised.
func (v *verifier) bounded(s State, circle map[string]bool) bool {
	for _, l := range v.Limits {
		if !l.Escalate {
			to, ok := s.first(l.To)
			if !ok {
				continue
			}
			if circle[to] {
				break
			}
		}
		if v.spent(l.When, s, circle) {
			return true
		}
	}
	if v.kept(s, circle) {
		return false
	}
	for _, r := range s.Always {
		if r.stays() && !v.rests(s, r, circle) {
			break
		}
		for _, m := range v.turned(s, s.taken([]Rule{r}, v.from[s.Name])) {
			if circle[m.to] {
				return false
			}
		}
		if v.spent(r.When, s, circle) {
			return true
		}
	}
	return false
}

// rests reports whether an instance that stays in s by the rule moves along the circle only
// after an input from outside. It is parked until a signal, and neither a deadline nor the
// end of another instance leads on.
func (v *verifier) rests(s State, r Rule, circle map[string]bool) bool {
	if s.Kind != Work || r.Stay.Source != staySignal {
		return false
	}
	for _, signal := range sortedKeys(s.On) {
		if signal == OnClaimed || outside(signal) {
			continue
		}
		for _, m := range v.turned(s, s.taken(s.On[signal], v.from[s.Name])) {
			if circle[m.to] {
				return false
			}
		}
	}
	return true
}

// kept reports whether s is entered, within the circle, by claims that stay:
// always rules are not tried then.
func (v *verifier) kept(s State, circle map[string]bool) bool {
	for name := range circle {
		for _, m := range v.graph[name] {
			if m.to == s.Name && m.kept {
				return true
			}
		}
	}
	return false
}

func (v *verifier) spent(g Guard, s State, circle map[string]bool) bool {
	for _, n := range g.bounds() {
		if v.raised(n, s, circle) {
			return true
		}
	}
	return false
}

// raised reports whether every pass of s raises the count, and nothing in the
// circle sets it back:
//
//   - instance.iteration: always
//   - instance.returns: unless the circle has a state that waits, which sets it back
//   - instance.visits['S']: if s is S
//   - instance.failures: if every step from s within the circle is a failure, and
//     no step of the circle is fresh. A run enters the circle again from a state that
//     is passed a bounded number of times, or after an input from outside.
func (v *verifier) raised(n count, s State, circle map[string]bool) bool {
	switch n.fact {
	case "iteration":
		return true
	case "visits":
		return n.state == s.Name
	}
	for name := range circle {
		if state, _ := v.State(name); n.fact == "returns" && state.Kind == Wait {
			return false
		}
		for _, m := range v.graph[name] {
			own := circle[m.to] && !m.news
			if n.fact == "failures" && own && (m.fresh || name == s.Name && !m.fails) {
				return false
			}
		}
	}
	return true
}
