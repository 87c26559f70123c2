package instance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/workflow"
)

// step takes the rule's first permitted target through gates and limits, and
// goes there. They are told what was heard, if it is because of that.
func (d *decision) transition(heard *workflow.Facts, rule workflow.Rule) error {
	from, owner := d.in.State, d.in.Owner
	state, _ := d.def.State(from)
	to, ok := d.firstPermitted(rule.To)
	if !ok {
		return d.refuse(CodeNotPermitted, targets(state), "%s → %s", from, strings.Join(rule.To, " or "))
	}
	rule.To = []string{to}
	cites := rule.When.Cites()
	for _, gate := range d.def.Gates {
		if !slices.Contains(gate.To, rule.To[0]) {
			continue
		}
		cites = slices.Concat(cites, gate.Require.Cites())
		holds, err := d.holds(gate.Require, heard)
		if err != nil {
			return d.refuse(CodeUndecided, nil, "gate %s: %v", gate.Name, err)
		}
		if holds {
			continue
		}
		instead, ok := d.firstPermitted(gate.Instead)
		if !ok {
			return d.refuse(CodeUndecided, targets(state), "gate %s forbids %s → %s and offers no permitted way", gate.Name, from, rule.To[0])
		}
		reason := d.def.Text(gate.Reason)
		d.record(GateRefused{gate.Name, rule.To[0], instead, reason})
		failed := rule.Failure || rule.Name == "decide" || rule.Name == "proposed" // a result that fails a gate is a failure
		rule = workflow.Rule{Name: gate.Name, To: []string{instead}, Reason: reason, Failure: failed}
	}
	after, err := d.withMove(rule, cites)
	if err != nil {
		return err
	}
	limited, err := d.limit(heard, &after)
	if err != nil {
		return err
	}
	if limited.To != nil {
		limited.Failure = true
		if after, err = d.withMove(limited, slices.Concat(cites, limited.When.Cites())); err != nil {
			return err
		}
	}
	*d = after
	if d.in.Loop && d.in.Visited(d.in.State) > 1 {
		w := d.def.Loop.Window
		recent := d.in.Previous.Newest(w)
		d.record(LoopDetected{recent, fmt.Sprintf("the last %d states were %s", w, strings.Join(recent, ", "))})
	}
	if limited.Escalate {
		if err := d.escalateToPeople(owner, limited); err != nil {
			return err
		}
	}
	return d.onEntry()
}

// moved is the decision with the move made. Who takes up work and is moved on by
// that keeps it, if it is theirs still.
func (d decision) withMove(rule workflow.Rule, cites []string) (decision, error) {
	d.events = slices.Clip(d.events) // another decision may go on from here, too
	if err := d.setVars(rule.Set); err != nil {
		return d, err
	}
	target, _ := d.def.State(rule.To[0])
	_, takes := d.cmd.Do.(Claim)
	d.record(Moved{
		From: d.in.State, To: target.Name, Owner: target.Owner, Kind: target.Kind, Timeout: target.Timeout,
		Rule: rule.Name, Reason: d.def.Text(rule.Reason), Failure: rule.Failure, ResetsFailures: rule.ResetsFailures, Loop: d.inLoop(),
		KeepsClaim: takes && d.in.Claim != nil && d.in.Claim.Role == target.Owner,
		Cites:      d.available(cites),
	})
	return d, nil
}

// there is what there is of the evidence of these names, each once, in order.
func (d *decision) available(names []string) []string {
	if len(names) == 0 {
		return nil
	}
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	return slices.DeleteFunc(names, func(name string) bool {
		return !slices.ContainsFunc(d.in.Evidence, func(e Evidence) bool { return e.Name == name })
	})
}

// limit asks the definition's limits about the move that is about to be made:
// they see the instance as it would be after it, and the failures of the state
// it leaves.
func (d *decision) limit(heard *workflow.Facts, after *decision) (workflow.Rule, error) {
	if after.in.Kind == workflow.Final || len(d.def.Limits) == 0 {
		return workflow.Rule{}, nil
	}
	then := after.facts()
	facts := *then
	if heard != nil {
		facts = *heard
		facts.Instance, facts.Vars = then.Instance, then.Vars
	}
	facts.Instance.Failures = int64(after.in.FailuresIn(d.in.State))
	for _, rule := range d.def.Limits {
		holds, err := rule.When.Holds(&facts)
		if err != nil {
			return rule, d.refuse(CodeUndecided, nil, "limit %s: %v", rule.Name, err)
		}
		if !holds {
			continue
		}
		if rule.Escalate {
			return rule, nil
		}
		if target, ok := d.firstPermitted(rule.To); ok {
			rule.To = []string{target}
			return rule, nil
		}
	}
	return workflow.Rule{}, nil
}

// inLoop is the loop rule over the past that includes the state being left.
func (d *decision) inLoop() bool {
	if d.def.Loop.Window == 0 {
		return false
	}
	return InLoop(appended(d.in.Previous.Newest(d.def.Loop.Window), d.in.State), d.def.Loop)
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

func (d *decision) firstPermitted(candidates []string) (string, bool) {
	for _, to := range d.expandPrevious(candidates) {
		if d.def.Permits(d.in.State, to) {
			return to, true
		}
	}
	return "", false
}

// places is the candidates with the state that the instance came to the
// present one from in its place.
func (d *decision) expandPrevious(candidates []string) []string {
	i := slices.Index(candidates, workflow.Previous)
	if i < 0 {
		return candidates
	}
	for from := range d.in.Previous.Backward() {
		if from != d.in.State {
			candidates = slices.Clone(candidates)
			candidates[i] = from
			break
		}
	}
	return candidates
}

func targets(s workflow.State) []string {
	var out []string
	for _, t := range s.Next {
		out = append(out, t.To)
	}
	return out
}
