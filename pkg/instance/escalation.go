package instance

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/workflow"
)

// escalate records an escalation by the claim's role. It ends the claim if people
// are required.
func (d *decision) escalate(a Escalate) error {
	if err := d.checkClaim(a.Token); err != nil {
		return err
	}
	if strings.TrimSpace(a.Reason) == "" {
		return d.refuse(CodeInvalid, nil, "an escalation needs a reason")
	}
	claim := *d.in.Claim
	if err := d.saveProgress(Handed{a.Head, a.Bundle, a.Sections}); err != nil {
		return err
	}
	if a.RequiresHuman {
		d.record(Released{claim.Token, claim.Agent, "escalates", false})
	}
	d.record(Escalated{len(d.in.Escalations) + 1, claim.Role, a.Reason, a.RequiresHuman})
	return nil
}

// escalateToPeople carries out a rule that escalates. While people are required
// already it only sets the rule's vars.
func (d *decision) escalateToPeople(by string, rule workflow.Rule) error {
	if err := d.setVars(rule.Set); err != nil {
		return err
	}
	if _, held := d.in.Escalation(); !held {
		d.record(Escalated{len(d.in.Escalations) + 1, cmp.Or(by, "orchestrator"), d.def.Text(rule.Reason), true})
	}
	return nil
}

// resolve records people's decision. The instance goes on unless another
// escalation holds it.
func (d *decision) resolve(a Resolve) error {
	if err := d.fromPeople("resolve an escalation"); err != nil {
		return err
	}
	var open []string
	for _, e := range d.in.Escalations {
		if !e.Resolved {
			open = append(open, fmt.Sprint(e.Number))
		}
	}
	if a.Number == 0 {
		e, _ := d.in.Escalation()
		a.Number = e.Number
	}
	if !slices.Contains(open, fmt.Sprint(a.Number)) {
		return d.refuse(CodeInvalid, open, "escalation %d is not open", a.Number)
	}
	_, held := d.in.Escalation()
	d.record(Resolved{a.Number, a.Text, d.cmd.Actor})
	if _, still := d.in.Escalation(); !held || still {
		return nil
	}
	d.resolved = true
	return d.runAlways(true)
}
