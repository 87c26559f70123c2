package instance

import (
	"cmp"

	"github.com/signalbox/signalbox/pkg/workflow"
)

// follow carries a rule out, and then settles.
func (d *decision) execute(heard *workflow.Facts, rule workflow.Rule) error {
	switch {
	case rule.Escalate:
		return d.escalateToPeople(d.in.Owner, rule)
	case rule.Stay.Source != "":
		return d.stayPut(rule)
	}
	if err := d.transition(heard, rule); err != nil {
		return err
	}
	if _, asks := d.in.Inquiry(); asks && d.in.Claim != nil {
		d.record(Released{d.in.Claim.Token, d.in.Claim.Agent, "a question comes first", false})
	}
	return d.runAlways(d.in.Claim == nil)
}

// escalated puts the matter to people, unless they are waited for already.
func (d *decision) escalateToPeople(by string, rule workflow.Rule) error {
	if err := d.setVars(rule.Set); err != nil {
		return err
	}
	if _, held := d.in.Escalation(); !held {
		d.record(Escalated{len(d.in.Escalations) + 1, cmp.Or(by, "orchestrator"), d.def.Text(rule.Reason), true})
	}
	return nil
}

// stay leaves the instance where it is and says when its owner looks again. An
// owner at work looks again when it is done; one that waits for an answer or for
// people, when it has it.
func (d *decision) stayPut(rule workflow.Rule) error {
	if err := d.setVars(rule.Set); err != nil {
		return err
	}
	now := rule.Stay.After == 0
	switch {
	case !d.awaitsOwner():
	case d.in.Claim.Live(d.cmd.At):
		if now && !d.in.Woken {
			d.record(Woken{d.def.Text(rule.Reason)})
		}
	case now || d.in.Woken:
		return d.runAlways(true)
	default:
		d.park(rule, false)
	}
	return d.runAlways(false)
}

// turn reports whether it is the turn of the owner of the state.
func (d *decision) awaitsOwner() bool {
	_, asked := d.in.Inquiry()
	return !asked && d.in.Worker() != ""
}

// idle reports whether nobody is at work, asked or waited for.
func (d *decision) unattended() bool {
	_, held := d.in.Escalation()
	_, asked := d.in.Inquiry()
	return !held && !asked && !d.in.Paused && d.in.Closed == "" && !d.in.Claim.Live(d.cmd.At)
}

func (d *decision) park(rule workflow.Rule, standing bool) {
	e := ParkedUntil{State: d.in.State, Reason: d.def.Text(rule.Reason), Standing: standing}
	if rule.Stay.After > 0 {
		e.Until = d.cmd.At.Add(rule.Stay.After)
	}
	d.record(e)
}

// maxHops bounds the moves that always rules make in one decision.
const maxHops = 16

// settle takes the moves nobody has to make, and then gives the work to whose
// turn it is, if wake or if the state is another.
func (d *decision) runAlways(wake bool) error {
	for range maxHops {
		if !d.unattended() {
			break
		}
		rule, err := d.alwaysRule()
		if err != nil {
			return err
		}
		if rule.To == nil {
			return d.executeInPlace(rule, wake)
		}
		if err := d.transition(nil, rule); err != nil {
			return err
		}
		wake = true
	}
	if wake {
		d.dispatch("")
	}
	return nil
}

// rest does what an always rule says that moves nothing; the zero rule says
// nothing, and what another one parked is given to its owner.
func (d *decision) executeInPlace(rule workflow.Rule, wake bool) error {
	if rule.Escalate {
		return d.escalateToPeople(d.in.Owner, rule)
	}
	if err := d.setVars(rule.Set); err != nil {
		return err
	}
	now, parked := rule.Stay.Source != "", d.in.Parked
	switch {
	case rule.Stay.After != 0:
		if d.awaitsOwner() && (wake || parked == nil) {
			d.park(rule, true)
		}
	case wake, parked != nil && (now || parked.Standing):
		d.dispatch("")
	}
	return nil
}

// standing returns the first always rule of the state that holds, or none.
// People who just resolved an escalation are not asked the same again.
func (d *decision) alwaysRule() (workflow.Rule, error) {
	state, _ := d.def.State(d.in.State)
	if len(state.Always) == 0 {
		return workflow.Rule{}, nil
	}
	facts := d.facts()
	for _, rule := range state.Always {
		ok, err := rule.When.Holds(facts)
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
