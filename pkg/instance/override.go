package instance

import "github.com/signalbox/signalbox/pkg/workflow"

// Override moves the instance to any state of the definition.
type Override struct {
	To     string
	Reason string
}

// decide moves the instance to any state. Done by a person, it resolves the
// escalations that wait for people.
func (a Override) decide(d *decision) error {
	to, ok := d.def.State(a.To)
	if err := d.authorize("override"); err != nil {
		return err
	}
	switch {
	case !ok:
		return d.refuse(CodeInvalid, d.def.StateNames(), "%q is not a state of %s", a.To, d.def.Name)
	case a.Reason == "":
		return d.refuse(CodeInvalid, nil, "an override needs a reason")
	}
	for e, held := d.in.Escalation(); held && d.actorRole() == workflow.Human; e, held = d.in.Escalation() {
		d.record(Resolved{e.Number, a.Reason, d.cmd.Actor})
	}
	d.record(Moved{
		From: d.in.State, To: to.Name, Owner: to.Owner, Kind: to.Kind, Timeout: to.Timeout, Rule: "override", Reason: a.Reason,
		Loop: d.inLoop(), Override: true, ResetsFailures: true,
	})
	if err := d.onEntry(); err != nil {
		return err
	}
	return d.runAlways(true)
}
