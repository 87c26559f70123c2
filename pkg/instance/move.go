package instance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/workflow"
)

// step takes the rule's first permitted target through gates and limits, and
// goes there.
func (d *decision) step(facts workflow.Facts, rule workflow.Rule) error {
	from := d.in.State
	state, _ := d.def.State(from)
	to, ok := d.permitted(rule.To)
	if !ok {
		return d.refuse(NotPermitted, targets(state), "%s → %s", from, strings.Join(rule.To, " or "))
	}
	if err := d.remember(rule.Set); err != nil {
		return err
	}
	rule.To = []string{to}
	cites := slices.Clone(rule.When.Cites())
	for _, gate := range d.def.Gates {
		if !slices.Contains(gate.To, rule.To[0]) {
			continue
		}
		cites = append(cites, gate.Require.Cites()...)
		holds, err := gate.Require.Eval(facts)
		if err != nil {
			return d.refuse(Undecided, nil, "gate %s: %v", gate.Name, err)
		}
		if holds {
			continue
		}
		instead, ok := d.permitted(gate.Instead)
		if !ok {
			return d.refuse(Undecided, targets(state), "gate %s forbids %s → %s and offers no permitted way", gate.Name, from, rule.To[0])
		}
		reason := d.def.Text(gate.Reason)
		d.record(GateRefused{gate.Name, rule.To[0], instead, reason})
		rule = workflow.Rule{Name: gate.Name, To: []string{instead}, Reason: reason, Failure: rule.Failure}
	}
	after := d.moved(rule, cites)
	var limited workflow.Rule
	if after.in.Kind != workflow.Final {
		var err error
		if limited, err = d.limit(facts, after); err != nil {
			return err
		}
	}
	if limited.To != nil {
		if err := d.remember(limited.Set); err != nil {
			return err
		}
		limited.Failure = true
		after = d.moved(limited, cites)
	}
	*d = after
	if d.in.Loop && d.in.Visited(d.in.State) > 1 {
		w := d.def.Loop.Window
		recent := d.in.Previous[len(d.in.Previous)-w:]
		d.record(LoopDetected{slices.Clone(recent), fmt.Sprintf("the last %d states were %s", w, strings.Join(recent, ", "))})
	}
	if limited.Escalate {
		d.record(Escalated{len(d.in.Escalations) + 1, d.in.Owner, d.def.Text(limited.Reason), true})
	}
	return d.enter()
}

// moved is the decision with the move made.
func (d decision) moved(rule workflow.Rule, cites []string) decision {
	target, _ := d.def.State(rule.To[0])
	slices.Sort(cites)
	d.record(Moved{
		From: d.in.State, To: target.Name, Owner: target.Owner, Kind: target.Kind, Timeout: target.Timeout,
		Rule: rule.Name, Reason: d.def.Text(rule.Reason), Failure: rule.Failure, Fresh: rule.Fresh, Loop: d.inLoop(),
		Keeps: rule.Name == workflow.OnClaimed, Cites: slices.DeleteFunc(slices.Compact(cites), func(name string) bool {
			return !slices.ContainsFunc(d.in.Evidence, func(e Evidence) bool { return e.Name == name })
		}),
	})
	return d
}

// limit asks the definition's limits about the move that is about to be made:
// they see the instance as it would be after it, and the failures of the state
// it leaves.
func (d *decision) limit(facts workflow.Facts, after decision) (workflow.Rule, error) {
	facts.Instance = after.facts().Instance
	facts.Instance.Failures = int64(after.in.FailuresIn(d.in.State))
	for _, rule := range d.def.Limits {
		holds, err := rule.When.Eval(facts)
		if err != nil {
			return rule, d.refuse(Undecided, nil, "limit %s: %v", rule.Name, err)
		}
		if !holds {
			continue
		}
		if rule.Escalate {
			return rule, nil
		}
		if target, ok := d.permitted(rule.To); ok {
			rule.To = []string{target}
			return rule, nil
		}
	}
	return workflow.Rule{}, nil
}

// inLoop is the loop rule over the past that includes the state being left.
func (d *decision) inLoop() bool {
	recent := d.in.Previous[max(0, len(d.in.Previous)-d.def.Loop.Window):]
	return InLoop(with(recent, d.in.State), d.def.Loop)
}

// InLoop reports whether the newest l.Window of the previous states hold at
// most l.Distinct different ones (issue lifecycle, is_in_loop).
func InLoop(previous []string, l workflow.Loop) bool {
	if l.Window == 0 || len(previous) < l.Window {
		return false
	}
	distinct := map[string]bool{}
	for _, s := range previous[len(previous)-l.Window:] {
		distinct[s] = true
	}
	return len(distinct) <= l.Distinct
}

func (d *decision) permitted(candidates []string) (string, bool) {
	for _, to := range d.resolved(candidates) {
		if d.def.Permits(d.in.State, to) {
			return to, true
		}
	}
	return "", false
}

// resolved is the candidates with the state the instance came from in its place.
func (d *decision) resolved(candidates []string) []string {
	i := slices.Index(candidates, workflow.Previous)
	if i < 0 || len(d.in.Previous) == 0 {
		return candidates
	}
	out := slices.Clone(candidates)
	out[i] = d.in.Previous[len(d.in.Previous)-1]
	return out
}

func targets(s workflow.State) []string {
	var out []string
	for _, t := range s.Next {
		out = append(out, t.To)
	}
	return out
}
