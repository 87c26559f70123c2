package instance

import "github.com/signalbox/signalbox/pkg/engine/workflow"

// Override moves the instance to another state of the definition, past its rules, gates and
// limits.
type Override struct {
	To     string
	Reason string
}

// decide moves the instance. A person moves it to any state, which resolves the escalations
// that wait for people. An agent moves it to a next state of the table (task lifecycle,
// skip).
func (a Override) decide(d *decision) error {
	to, ok := d.def.State(a.To)
	if err := d.authorize("override"); err != nil {
		return err
	}
	switch {
	case !ok:
		return d.refuse(CodeInvalid, d.def.StateNames(), "%q is not a state of %s%s", a.To, d.def.Name, d.orMeant(a.To))
	case a.Reason == "":
		return d.refuse(CodeInvalid, nil, "an override needs a reason")
	case d.actorRole() != workflow.Human && !d.def.Permits(d.in.State, to.Name):
		from, _ := d.def.State(d.in.State)
		return d.refuse(CodeNotPermitted, targets(from), "%s skips to a next state of %s, and %s is none", d.actorRole(), d.in.State, to.Name)
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
