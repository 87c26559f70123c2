package instance

import "github.com/signalbox/signalbox/pkg/engine/workflow"

// execute carries out one rule and then the always rules. trigger has the facts
// with the signal that the rule reacts to; nil if it is no reaction.
func (d *decision) execute(trigger *workflow.Facts, rule workflow.Rule) error {
	switch {
	case rule.Escalate:
		return d.escalateToPeople(d.in.Owner, rule)
	case rule.Stay.Source != "":
		return d.stay(rule)
	}
	if err := d.transition(trigger, rule); err != nil {
		return err
	}
	if _, inquired := d.in.Inquiry(); inquired && d.in.Claim != nil {
		d.record(Released{Token: d.in.Claim.Token, Agent: d.in.Claim.Agent, Reason: "a question comes first"})
	}
	return d.runAlways(d.in.Claim == nil)
}

// maxHops bounds the moves that always rules make in one decision.
const maxHops = 16

// runAlways carries out always rules until none moves the instance. It then
// dispatches the work if dispatch is set or the state has changed.
func (d *decision) runAlways(dispatch bool) error {
	for range maxHops {
		if !d.unattended() {
			break
		}
		rule, err := d.alwaysRule()
		if err != nil {
			return err
		}
		if rule.To == nil {
			return d.executeInPlace(rule, dispatch)
		}
		if err := d.transition(nil, rule); err != nil {
			return err
		}
		dispatch = true
	}
	if dispatch {
		d.dispatch("")
	}
	return nil
}

// unattended reports whether always rules apply. The instance is neither closed nor paused,
// no claim is live, and no question to a role or escalation is open.
func (d *decision) unattended() bool {
	_, escalated := d.in.Escalation()
	_, inquired := d.in.Inquiry()
	return !escalated && !inquired && !d.in.Paused && d.in.Closed == "" && !d.in.Claim.Live(d.cmd.At)
}

// executeInPlace carries out an always rule that does not move the instance. The
// zero rule stands for none: it ends a park that another always rule made.
func (d *decision) executeInPlace(rule workflow.Rule, dispatch bool) error {
	if rule.Escalate {
		return d.escalateToPeople(d.in.Owner, rule)
	}
	if err := d.setVars(rule.Set); err != nil {
		return err
	}
	now, parked := rule.Stay.Source != "", d.in.Parked
	switch {
	case rule.Stay.After != 0:
		if d.ownerIsWorker() && (dispatch || parked == nil) {
			d.park(rule, true)
		}
	case dispatch, parked != nil && (now || parked.Standing):
		d.dispatch("")
	}
	return nil
}

// alwaysRule returns the first always rule of the state that holds, or the zero
// rule. It skips escalations in the decision in which people resolved one.
func (d *decision) alwaysRule() (workflow.Rule, error) {
	state, _ := d.def.State(d.in.State)
	if len(state.Always) == 0 {
		return workflow.Rule{}, nil
	}
	facts := d.facts()
	for _, rule := range state.Always {
		ok, err := rule.When.Holds(facts)
		d.trace("always", rule, facts, ok, err)
		if err != nil {
			return rule, d.refuse(CodeUndecided, nil, "%s always: %v", state.Name, err)
		}
		if ok && !(rule.Escalate && d.resolved) {
			rule.Name = "always"
			return rule, nil
		}
	}
	return workflow.Rule{}, nil
}
