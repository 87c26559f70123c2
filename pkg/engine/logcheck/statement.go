package logcheck

import (
	"cmp"
	"maps"
	"slices"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// statements is what the instance knows by what others said: what gates read.
type statements struct {
	head     string
	evidence map[string]workflow.EvidenceFacts
	vars     map[string]string
	before   map[string]string // vars before the newest of them were set
	set      bool              // vars were set since the newest event of another kind
}

// checkEvidence checks that each signed check is signed by who reports it, who may
// give it. Checks of before there were signatures are taken as they are.
func (t *instanceChecker) checkEvidence(state, role, agent string, asked bool, all []instance.Evidence) {
	for _, e := range all {
		switch {
		case e.Role == "" && (e.Agent == "" || role == workflow.Human):
		case e.Role != role || e.Agent != agent:
			t.report(Statement, "%s of %s (%s) is signed by %s (%s)", e.Name, agent, role, e.Agent, e.Role)
		}
		if t.table != nil && e.Agent != "" && !t.table.Gives(state, role, asked, workflow.GivenEvidence, e.Name) {
			t.report(Statement, "%s is given by %s in %s; want %v", e.Name, role, state, t.table.Givers(workflow.GivenEvidence, e.Name))
		}
		if t.stated.evidence == nil {
			t.stated.evidence = map[string]workflow.EvidenceFacts{}
		}
		t.stated.evidence[e.Name] = e.Facts()
	}
}

// remember keeps vars, and those before them: the rule of a move sets them after the
// gates were asked.
func (t *instanceChecker) remember(vars map[string]string) {
	t.stated.before = t.stated.vars
	t.stated.vars = maps.Clone(t.stated.vars)
	if t.stated.vars == nil {
		t.stated.vars = map[string]string{}
	}
	maps.Copy(t.stated.vars, vars)
	t.stated.set = true
	if pushed := vars["pushed"]; pushed != "" && pushed != t.stated.head {
		t.report(Effect, "commit %s was pushed, and the work was at %s", pushed, cmp.Or(t.stated.head, "none"))
	}
}

// headed keeps the commit that the work is at.
func (t *instanceChecker) headed(head string) { t.stated.head = cmp.Or(head, t.stated.head) }

// checkGates checks that a move passes the gates of its target. It asks only those that
// read no more than evidence, vars, the policy and the commit of the work.
func (t *instanceChecker) checkGates(e instance.Moved) {
	if t.table == nil || e.Override || slices.ContainsFunc(t.table.Limits, func(l workflow.Rule) bool { return l.Name == e.Rule }) {
		return
	}
	for _, gate := range t.table.Gates {
		if !slices.Contains(gate.To, e.To) || !gate.Require.ReadsOnly("evidence", "instance.head") {
			continue
		}
		states := []map[string]string{t.stated.vars}
		if t.stated.set {
			states = append(states, t.stated.before)
		}
		if !slices.ContainsFunc(states, func(vars map[string]string) bool { return t.holds(gate.Require, vars) }) {
			t.report(Gate, "it moves from %s to %s, and the gate %s does not hold: %s", e.From, e.To, gate.Name, gate.Reason)
		}
	}
}

func (t *instanceChecker) holds(g workflow.Guard, vars map[string]string) bool {
	facts := workflow.Facts{Evidence: t.stated.evidence, Instance: workflow.InstanceFacts{Head: t.stated.head}, Vars: map[string]any{}}
	for name, text := range vars {
		if value, ok := t.table.Var(name, text); ok {
			facts.Vars["vars."+name] = value
		}
	}
	ok, err := g.Holds(&facts)
	return ok && err == nil
}
