package workflow

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// mutation is a definition with one thing lost. If nothing notices, harmless says
// why the proof stands without it; empty: it should have been noticed.
type mutation struct {
	name     string
	change   func(m *Definition)
	harmless func(d, m *Definition) string
}

// mutations lists what a definition can lose.
func mutations(d *Definition) []mutation {
	var all []mutation
	add := func(name string, harmless func(d, m *Definition) string, change func(m *Definition)) {
		all = append(all, mutation{name, change, harmless})
	}
	for i, s := range d.States {
		add("state "+s.Name, never, func(m *Definition) { m.States = slices.Delete(m.States, i, i+1) })
		for j, t := range s.Next {
			add("move "+s.Name+" → "+t.To, lostMove(s.Name, t.To), func(m *Definition) { m.States[i].Next = without(s.Next, j) })
		}
		for j := range s.Decide {
			add(fmt.Sprintf("rule %d of %s", j+1, s.Name), fewerMoves, func(m *Definition) { m.States[i].Decide = without(s.Decide, j) })
		}
		for j := range s.Always {
			add(fmt.Sprintf("always rule %d of %s", j+1, s.Name), fewerMoves, func(m *Definition) { m.States[i].Always = without(s.Always, j) })
		}
		for _, signal := range sortedKeys(s.On) {
			add("signal "+signal+" of "+s.Name, fewerMoves, func(m *Definition) { delete(m.States[i].On, signal) })
		}
		if s.Owner != "" {
			add("owner of "+s.Name, never, func(m *Definition) { m.States[i].Owner, m.States[i].Kind = "", "" })
			add("known owner of "+s.Name, never, func(m *Definition) { m.States[i].Owner = "nobody" })
		}
		if s.Timeout > 0 {
			add("timeout of "+s.Name, lostTimeout(s.Name), func(m *Definition) { m.States[i].Timeout = 0 })
		}
	}
	for i, l := range d.Limits {
		add("limit "+l.Name, lostLimit(l), func(m *Definition) { m.Limits = without(d.Limits, i) })
		add("bound of limit "+l.Name, lostLimit(l), func(m *Definition) { m.Limits[i].When = Guard{Source: "instance.repeats >= 3"} })
	}
	for i, g := range d.Gates {
		add("gate "+g.Name, fewerMoves, func(m *Definition) { m.Gates = without(d.Gates, i) })
		for j, to := range g.Instead {
			add("way of gate "+g.Name+" to "+to, lostWay(g, to), func(m *Definition) { m.Gates[i].Instead = without(g.Instead, j) })
		}
	}
	for _, name := range sortedKeys(d.Policy) {
		add("policy "+name, unread("policy."+name), func(m *Definition) { delete(m.Policy, name) })
	}
	return all
}

func without[T any](list []T, i int) []T { return slices.Delete(slices.Clone(list), i, i+1) }

func never(_, _ *Definition) string { return "" }

// lostMove: the row has more than anybody takes, or who took the move has another.
func lostMove(from, to string) func(d, m *Definition) string {
	return func(d, m *Definition) string {
		taken := func(d *Definition) bool {
			g, _ := d.graph()
			return slices.ContainsFunc(g[from], func(s step) bool { return s.to == to })
		}
		before, _ := d.State(from)
		after, _ := m.State(from)
		if !taken(d) {
			return "no rule takes it and nobody may propose it"
		}
		silent := d.clone()
		silent.States[silent.index[from]].Proposes = false
		if !taken(silent) {
			return "only a proposal takes it"
		}
		for _, r := range slices.Concat(before.Decide, before.Always) {
			if slices.Contains(r.To, Previous) && slices.ContainsFunc(r.To, after.permits) {
				return "a rule to $previous has another target"
			}
		}
		for _, g := range d.Gates {
			if other, ok := after.first(g.Instead); ok && slices.Contains(g.Instead, to) {
				return "gate " + g.Name + " leads to " + other + " instead"
			}
		}
		for _, l := range d.Limits {
			if !slices.Contains(l.To, to) {
				continue
			}
			if other, ok := after.first(l.To); ok {
				return "limit " + l.Name + " leads to " + other + " instead"
			}
			return "other counts bound what limit " + l.Name + " bounded there"
		}
		return ""
	}
}

// lostWay: the gate has another way wherever it took this one.
func lostWay(g Gate, lost string) func(d, m *Definition) string {
	return func(_, m *Definition) string {
		others := slices.DeleteFunc(slices.Clone(g.Instead), func(to string) bool { return to == lost })
		for _, s := range m.States {
			if _, other := s.first(others); slices.ContainsFunc(g.To, s.permits) && s.permits(lost) && !other {
				return ""
			}
		}
		return "the gate leads another way"
	}
}

// fewerMoves: all that m can do, d can do; and Verify has proven the rest of m.
func fewerMoves(d, m *Definition) string {
	before, _ := d.graph()
	after, _ := m.graph()
	fewer := 0
	for _, s := range d.States {
		for _, other := range m.StateNames() {
			leads := func(m step) bool { return m.to == other }
			was, is := slices.ContainsFunc(before[s.Name], leads), slices.ContainsFunc(after[s.Name], leads)
			switch {
			case is && !was:
				return ""
			case was && !is:
				fewer++
			}
		}
	}
	if fewer == 0 {
		return "the moves are the same"
	}
	return fmt.Sprintf("%d moves fewer, and every state is reached and left", fewer)
}

func lostTimeout(name string) func(d, m *Definition) string {
	return func(d, m *Definition) string {
		s, _ := d.State(name)
		if s.Kind == Wait {
			return "it waits, and nothing but telling people depends on its deadline"
		}
		for _, other := range m.States {
			if other.Kind == Work && other.Timeout > 0 {
				return ""
			}
		}
		return "no other work has one"
	}
}

func lostLimit(l Rule) func(d, m *Definition) string {
	return func(_, m *Definition) string {
		if len(l.When.bounds()) == 0 {
			return "it bounds no count: it ends runs sooner"
		}
		bare := m.clone() // whether anything is left that needs a bound
		bare.Limits = nil
		for i := range bare.States {
			bare.States[i].Always = nil
		}
		if len(Verify(bare)) == 0 {
			return "there is nothing to bound"
		}
		return "other counts bound what it bounded"
	}
}

func unread(name string) func(d, m *Definition) string {
	return func(d, _ *Definition) string {
		if strings.Contains(string(d.Source()), name) {
			return ""
		}
		return "the engine reads it, and has a default; no guard does"
	}
}

// TestEveryLossIsNoticedOrProvablyHarmless loses one thing of each built-in after
// another, as if its file had been written so.
func TestEveryLossIsNoticedOrProvablyHarmless(t *testing.T) {
	for _, d := range builtins(t) {
		t.Run(d.Name, func(t *testing.T) {
			if ps := Verify(d); len(ps) > 0 {
				t.Fatalf("it is not proven: %v", ps)
			}
			noticed, all := 0, mutations(d)
			for _, mutation := range all {
				m := d.clone()
				mutation.change(m)
				m.derive()
				loaded, err := Load("mutant.yaml", m.Source())
				if err != nil || len(Verify(loaded, d.Roles()...)) > 0 {
					noticed++
					continue
				}
				why := mutation.harmless(d, loaded)
				if why == "" {
					t.Errorf("the loss of %s is not noticed", mutation.name)
					continue
				}
				t.Logf("the loss of %s is harmless: %s", mutation.name, why)
			}
			t.Logf("%d of %d losses are noticed", noticed, len(all))
		})
	}
}

// TestWhatTheIssueLifecycleMayLoseOfItsBounds lists it: a wait keeps another
// signal, a lost gate or limit forbids less.
func TestWhatTheIssueLifecycleMayLoseOfItsBounds(t *testing.T) {
	d := builtinNamed(t, "issue")
	var harmless []string
	for _, mutation := range mutations(d) {
		kind, _, _ := strings.Cut(mutation.name, " ")
		if !slices.Contains([]string{"signal", "limit", "gate", "bound", "way", "policy", "owner", "known", "state"}, kind) {
			continue
		}
		m := d.clone()
		mutation.change(m)
		m.derive()
		if loaded, err := Load("mutant.yaml", m.Source()); err == nil && len(Verify(loaded, d.Roles()...)) == 0 {
			harmless = append(harmless, mutation.name)
		}
	}
	want := []string{
		"signal abandoned of waiting_for_requirements_clarification",
		"signal blocked of waiting_for_requirements_clarification",
		"signal timeout_alert of waiting_for_requirements_clarification",
		"signal timeout_escalation of waiting_for_requirements_clarification",
		"signal abandoned of waiting_for_human_input",
		"signal blocked of waiting_for_human_input",
		"signal timeout_alert of waiting_for_human_input",
		"signal timeout_escalation of waiting_for_human_input",
		"limit no_progress",
		"bound of limit no_progress",
		"gate pull_request",
		"way of gate pull_request to creating_pr",
		"gate require_tests",
		"way of gate require_tests to implementing",
		"gate shown",
		"way of gate shown to running_tests",
		"policy alert_at", "policy budget_tokens", "policy budget_usd",
		"policy escalate_at",
		"policy flake_runs",
		"policy learnings",
		"policy max_faults",
		"policy red_first",
		"policy test_changes",
		"policy warn_at",
	}
	if !slices.Equal(harmless, want) {
		t.Errorf("harmless are\n%s\nwant\n%s", strings.Join(harmless, "\n"), strings.Join(want, "\n"))
	}
}
