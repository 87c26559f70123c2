package workflow

import (
	"slices"
	"strings"
)

// step is one way in which a move comes about.
type step struct {
	to    string
	fails bool // it is counted as a failure of the state it leaves
	maybe bool // whether it fails, the result decides
	fresh bool // it may set every count of failures to zero
	kept  bool // the owner's claim may stay, and always rules wait for it
	news  bool // something outside asked for it

	result bool // the owner's result leads there: if a gate forbids it, it fails
}

// graph is what instances can really do, by state. They move by the owner's proposal, by
// rule or signal, and turned aside by a gate or a limit. A row may permit more.
type graph map[string][]step

// opened stands, among the states that one is entered from, for none.
const opened = ""

// graph follows $previous to every state that its state can be entered from.
func (d *Definition) graph() (g graph, from map[string]map[string]bool) {
	g, from = graph{}, map[string]map[string]bool{d.Initial: {opened: true}}
	for _, name := range d.Entries {
		from[name] = map[string]bool{opened: true}
	}
	for again := true; again; {
		again = false
		for _, s := range d.States {
			g[s.Name] = d.steps(s, from[s.Name])
			for _, m := range g[s.Name] {
				if from[m.to] == nil {
					from[m.to] = map[string]bool{}
				}
				if !from[m.to][s.Name] {
					from[m.to][s.Name], again = true, true
				}
			}
		}
	}
	return g, from
}

// steps lists the ways out of a state that is entered from some others.
func (d *Definition) steps(s State, from map[string]bool) []step {
	out := s.taken(s.Decide, from)
	if s.Proposes {
		for _, t := range d.Proposals(s) {
			out = append(out, s.proposed(t))
		}
	}
	for i := range out {
		out[i].result = true
	}
	out = append(out, s.taken(s.Always, from)...)
	for _, signal := range sortedKeys(s.On) {
		for _, m := range s.taken(s.On[signal], from) {
			m.news, m.kept = outside(signal), signal == OnClaimed
			out = append(out, m)
		}
	}
	return d.turned(s, out)
}

func (s State) taken(rules []Rule, from map[string]bool) []step {
	var out []step
	for _, r := range rules {
		targets := s.targets(r.To, from)
		for _, to := range targets {
			out = append(out, step{to: to, fails: r.Failure, fresh: r.ResetsFailures})
		}
	}
	return out
}

// targets are the states that a rule may lead to: the first candidate the table
// permits, where $previous is any of from but s itself.
func (s State) targets(candidates []string, from map[string]bool) (targets []string) {
	for _, to := range candidates {
		if to != Previous {
			if s.permits(to) {
				return append(targets, to)
			}
			continue
		}
		missing := false
		for _, p := range sortedKeys(from) {
			switch {
			case p == s.Name:
			case p != opened && s.permits(p):
				targets = append(targets, p)
			default:
				missing = true
			}
		}
		if len(targets) > 0 && !missing {
			return targets
		}
	}
	return targets
}

// proposed is the step that the owner's result asks for by name. It has what the
// first rule for that state adds whose guard holds, if any does.
func (s State) proposed(to string) step {
	m := step{to: to}
	failing, clean, covered := false, false, false
	for _, r := range s.Decide {
		if covered || !slices.Contains(r.To, to) && !slices.Contains(r.To, Previous) {
			continue
		}
		failing, clean, m.fresh = failing || r.Failure, clean || !r.Failure, m.fresh || r.ResetsFailures
		covered = r.When.Always() && slices.Contains(r.To, to)
	}
	clean = clean || !covered
	m.fails, m.maybe = failing && !clean, failing && clean
	return m
}

// turned adds what gates and limits make of steps out of s. The engine asks them so: gates
// in order, then the limits of a step that does not end the run.
func (d *Definition) turned(s State, steps []step) []step {
	add := func(m step) {
		if !slices.Contains(steps, m) {
			steps = append(steps, m)
		}
	}
	for _, g := range d.Gates {
		instead, ok := s.first(g.Instead)
		for _, m := range steps {
			if ok && slices.Contains(g.To, m.to) {
				m.to, m.fails, m.maybe, m.fresh = instead, m.fails || m.result, m.maybe && !m.result, false
				add(m)
			}
		}
	}
	for _, m := range steps {
		if to, _ := d.State(m.to); to.Kind == Final {
			continue
		}
		for _, l := range d.Limits {
			if to, ok := s.first(l.To); ok && (m.fails || m.maybe || !d.needsFailure(l.When)) {
				add(step{to: to, fails: true, fresh: l.ResetsFailures, kept: m.kept, news: m.news})
			}
		}
	}
	return steps
}

// first is the candidate the engine takes from s: the first the table permits.
func (s State) first(candidates []string) (string, bool) {
	for _, to := range candidates {
		if s.permits(to) {
			return to, true
		}
	}
	return "", false
}

// outside reports whether a signal comes from people or from the world, and not
// from the engine itself.
func outside(signal string) bool {
	return signal != OnClaimed && signal != OnEnded && !strings.HasPrefix(signal, "timeout_")
}

// reach is every state that can be entered from one by steps that pass.
func (g graph) reach(from string, pass func(step) bool) map[string]bool {
	reached := map[string]bool{}
	front := []string{from}
	for len(front) > 0 {
		last := len(front) - 1
		steps := g[front[last]]
		front = front[:last]
		for _, m := range steps {
			if !reached[m.to] && pass(m) {
				reached[m.to] = true
				front = append(front, m.to)
			}
		}
	}
	return reached
}

// circle is the states that state goes round with by steps that pass; empty if
// it does not come back.
func (g graph) circle(state string, pass func(step) bool) map[string]bool {
	circle := map[string]bool{}
	reached := g.reach(state, pass)
	if !reached[state] {
		return circle
	}
	for other := range reached {
		if g.reach(other, pass)[state] {
			circle[other] = true
		}
	}
	return circle
}
