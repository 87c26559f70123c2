package instance

import (
	"slices"

	"github.com/signalbox/signalbox/pkg/workflow"
)

// NextWaiter returns the claim of an agent of the role that waits for work; ok is
// false if none does.
type NextWaiter func(role string) (claim Claim, ok bool)

// DecideAndClaim is Decide, and has work that the decision gives to the owner of a
// state claimed by an agent that waits for it, in the same decision. given says
// whether there was one.
func DecideAndClaim(def *workflow.Definition, in Instance, cmd Command, waiting NextWaiter) (events []Event, given bool, err error) {
	d := decision{def: def, in: in, cmd: cmd}
	if err := d.precheck(); err != nil {
		return nil, false, err
	}
	if err := d.decide(); err != nil {
		return nil, false, err
	}
	events = d.events
	if !dispatches(events) {
		return events, false, nil
	}
	claim, ok := waiting(d.in.Worker())
	if !ok {
		return events, false, nil
	}
	claim.Work = d.in.Work
	d.cmd.Do, d.cmd.Actor, d.resolved = claim, claim.Role+"/"+claim.Agent, false // as if it were the next command
	if d.claim(claim, true) != nil {                                             // who takes it from the queue hears why not
		return slices.Clip(events), false, nil
	}
	return d.events, true, nil
}

// dispatches reports whether the work of a state comes of the events: who is
// asked a question takes it from the queue.
func dispatches(events []Event) bool {
	for _, e := range slices.Backward(events) {
		if e, ok := e.(Dispatched); ok {
			return e.Question == 0
		}
	}
	return false
}

// lapse dispatches anew what no queue has. From then on a delivery that is not
// acknowledged comes again, and is counted.
func (d *decision) lapse(a Lapse) error {
	reason := "it was given back"
	switch c := d.in.Claim; {
	case !d.in.Direct || a.Work != d.in.Work:
		return d.refuse(CodeStale, nil, "work %d is not one that no queue has", a.Work)
	case c.Live(d.cmd.At):
		return d.refuse(CodeHeld, nil, "%s holds it until %s", c.Agent, stamp(c.Lease))
	case c != nil:
		reason = "the lease of " + c.Agent + " ran out"
	}
	if d.in.Parked != nil || d.in.Worker() == "" || d.in.Paused {
		return d.refuse(CodePaused, nil, "%s waits", d.in.State)
	}
	d.dispatch(reason)
	return nil
}
