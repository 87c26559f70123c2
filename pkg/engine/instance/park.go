package instance

import (
	"time"

	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// Wake ends a park at its time Until and dispatches the work.
type Wake struct{ Until time.Time }

// ParkedUntil means that the owner has nothing to do until a time or the next event.
type ParkedUntil struct {
	State  string
	Until  time.Time // zero: until the next event
	Reason string
	// Standing means that the park ends when the always rule that made it no longer holds.
	Standing bool
	WaitsFor Wait
}

func (e ParkedUntil) apply(in *Instance, _ Commit) {
	in.Parked = &Parked{e.Until, e.Reason, e.Standing, e.waitsFor()}
}

// Woken means that something happened under a live claim: the owner must look again.
type Woken struct{ Reason string }

func (Woken) apply(in *Instance, _ Commit) {
	in.Woken = true
}

// stay carries out a rule that leaves the instance in its state. It parks the
// state's owner, dispatches to it, or marks a live claim woken. While a question
// or an escalation is open it does neither: the owner looks again afterwards.
func (d *decision) stay(rule workflow.Rule) error {
	if err := d.setVars(rule.Set); err != nil {
		return err
	}
	now := rule.Stay.After == 0
	switch {
	case !d.ownerIsWorker():
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

// ownerIsWorker reports whether the owner of the state is to work next: no
// question to a role is open and no escalation holds the instance.
func (d *decision) ownerIsWorker() bool {
	_, inquired := d.in.Inquiry()
	return !inquired && d.in.Worker() != ""
}

// park records that the owner has nothing to do. standing marks a park that
// ends with the always rule it comes from.
func (d *decision) park(rule workflow.Rule, standing bool) {
	e := ParkedUntil{State: d.in.State, Reason: d.def.Text(rule.Reason), Standing: standing}
	if rule.Stay.After > 0 {
		e.Until = d.cmd.At.Add(rule.Stay.After)
	}
	d.record(e)
}

// decide ends a park whose time has come.
func (a Wake) decide(d *decision) error {
	p := d.in.Parked
	open, escalated := d.in.Escalation()
	switch {
	case p == nil || p.Until.IsZero() || !p.Until.Equal(a.Until):
		return d.refuse(CodeStale, nil, "%s is not parked until %s", d.in.State, stamp(a.Until))
	case d.cmd.At.Before(p.Until):
		return d.refuse(CodeEarly, nil, "%s is parked until %s", d.in.State, stamp(p.Until))
	case d.in.Paused:
		return d.refuse(CodePaused, []string{"resume"}, "paused: %s", d.in.Reason)
	case escalated:
		return d.refuse(CodePaused, []string{"resolve"}, "people are asked: %s", open.Reason)
	}
	return d.runAlways(true)
}
