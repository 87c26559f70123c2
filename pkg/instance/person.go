package instance

import (
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/workflow"
)

// may refuses who the definition does not let do it. An agent acts as its role,
// "cto/agent-1"; everybody else is a person.
func (d *decision) authorize(what string) error {
	who, listed := d.def.May[what]
	if !listed || slices.Contains(who, d.actorRole()) {
		return nil
	}
	return d.refuse(CodeForbidden, who, "%s may not %s in %s", d.actorRole(), what, d.def.Name)
}

// class is the role of an agent that asks, or workflow.Human.
func (d *decision) actorRole() string {
	role, _, agent := strings.Cut(d.cmd.Actor, "/")
	if !agent || strings.Contains(role, ":") {
		return workflow.Human
	}
	return role
}

// override moves the instance. A person who does it has looked: what waited for
// people waits no more.
func (d *decision) override(a Override) error {
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

func (d *decision) pause(a Pause) error {
	if d.in.Paused {
		return d.refuse(CodePaused, []string{"resume"}, "already paused: %s", d.in.Reason)
	}
	if err := d.authorize("pause"); err != nil {
		return err
	}
	d.record(Paused{a.Reason})
	return nil
}

func (d *decision) resume(a Resume) error {
	if !d.in.Paused {
		return d.refuse(CodeInvalid, []string{"pause"}, "not paused")
	}
	if err := d.authorize("resume"); err != nil {
		return err
	}
	d.record(Resumed{a.Reason})
	return d.runAlways(true)
}

func (d *decision) retry(a Retry) error {
	e, held := d.in.Escalation()
	switch {
	case d.in.Paused:
		return d.refuse(CodePaused, []string{"resume"}, "paused: %s", d.in.Reason)
	case held:
		return d.refuse(CodePaused, []string{"resolve"}, "people are asked: %s", e.Reason)
	case d.in.Worker() == "":
		return d.refuse(CodeInvalid, nil, "nobody works in %s: it waits for a signal", d.in.State)
	case d.in.Claim.Live(d.cmd.At):
		return d.refuse(CodeHeld, nil, "%s works on it until %s", d.in.Claim.Agent, stamp(d.in.Claim.Lease))
	}
	if err := d.authorize("retry"); err != nil {
		return err
	}
	d.dispatch(a.Reason)
	return nil
}

func (d *decision) cancel(a Cancel) error {
	if err := d.authorize("cancel"); err != nil {
		return err
	}
	d.record(CancelledBy{a.Reason})
	return nil
}

// migrate goes on under d.def, which is the new definition.
func (d *decision) migrate(a Migrate) error {
	state, ok := d.def.State(d.in.State)
	switch {
	case d.def.Hash == d.in.Definition:
		return d.refuse(CodeInvalid, nil, "it is on this definition already")
	case d.def.Name != d.in.Workflow:
		return d.refuse(CodeInvalid, []string{d.in.Workflow}, "%s is another lifecycle", d.def.Name)
	case !ok:
		return d.refuse(CodeInvalid, d.def.StateNames(), "the new definition has no state %s", d.in.State)
	}
	if err := d.authorize("migrate"); err != nil {
		return err
	}
	if d.in.Claim.Live(d.cmd.At) {
		return d.refuse(CodeHeld, nil, "%s works on it until %s", d.in.Claim.Agent, stamp(d.in.Claim.Lease))
	}
	d.record(Migrated{d.in.Definition, d.def.Hash, state.Owner, state.Kind, state.Timeout, a.Reason})
	return d.runAlways(true)
}
