package instance

import "github.com/signalbox/signalbox/pkg/engine/workflow"

// Reopen starts an instance again that has ended, on the code that it left.
type Reopen struct {
	To     string // empty: where it was cancelled, or the state that led to the end
	Reason string
}

// Reopened undoes the end of an instance. A move into the state where it starts again
// follows in the same commit.
type Reopened struct{ Reason string }

// apply opens the instance. Counts towards limits start at zero.
func (e Reopened) apply(in *Instance, _ Commit) {
	in.Closed, in.Paused, in.Parked, in.Claim = "", false, nil, nil
	in.Failure, in.Failed, in.Returns = Signature{}, false, 0
}

// decide opens the instance and moves it to where it starts again. One that did not fail
// needs the state named: nothing is left to do where it came from.
func (a Reopen) decide(d *decision) error {
	if err := d.authorize("reopen"); err != nil {
		return err
	}
	if d.in.Closed == "" {
		return d.refuse(CodeInvalid, []string{"retry", "override"}, "it has not ended: it is in %s", d.in.State)
	}
	if a.To == "" && d.in.Closed == Ended && !d.in.Failed {
		return d.refuse(CodeInvalid, d.openStates(), "it ended in %s, not by a failure: name the state to start again in", d.in.State)
	}
	name := a.To
	if name == "" {
		name = d.stoppedIn()
	}
	to, ok := d.def.State(name)
	if !ok || to.Kind == workflow.Final {
		return d.refuse(CodeInvalid, d.openStates(), "it cannot start again in %q: that is no state of %s that goes on%s", name, d.def.Name,
			d.orMeant(name))
	}
	d.record(Reopened{a.Reason})
	for e, held := d.in.Escalation(); held; e, held = d.in.Escalation() {
		d.record(Resolved{e.Number, a.Reason, d.cmd.Actor})
	}
	d.record(Moved{
		From: d.in.State, To: to.Name, Owner: to.Owner, Kind: to.Kind, Timeout: to.Timeout, Rule: "reopen", Reason: a.Reason,
		Loop: d.inLoop(), Override: true, ResetsFailures: true,
	})
	if err := d.onEntry(); err != nil {
		return err
	}
	return d.runAlways(true)
}

// stoppedIn returns the state in which the instance was cancelled, or the newest one before its end.
func (d *decision) stoppedIn() string {
	if row, ok := d.def.State(d.in.State); ok && row.Kind != workflow.Final {
		return d.in.State
	}
	for name := range d.in.Previous.Backward() {
		if row, ok := d.def.State(name); ok && row.Kind != workflow.Final {
			return name
		}
	}
	return d.def.Initial
}

// openStates returns the states that are not final.
func (d *decision) openStates() (names []string) {
	for _, name := range d.def.StateNames() {
		if s, _ := d.def.State(name); s.Kind != workflow.Final {
			names = append(names, name)
		}
	}
	return names
}

// orMeant returns "; did you mean STATE?" for what is nearly the name of a state, or "".
func (d *decision) orMeant(name string) string {
	if near := workflow.Nearest(name, d.def.StateNames()); near != "" && near != name {
		return "; did you mean " + near + "?"
	}
	return ""
}
