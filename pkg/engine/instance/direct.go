package instance

import (
	"slices"

	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// Lapse dispatches directly claimed work to the queue after its claim has ended.
// Work is the commit that dispatched it.
type Lapse struct{ Work uint64 }

// givenBack is the reason of a dispatch by Lapse after a release.
const givenBack = "it was given back"

// ranOut is the reason of a dispatch by Lapse after a lease.
func ranOut(agent string) string { return "the lease of " + agent + " ran out" }

// NextWaiter returns the claim of the agent of the role that has waited longest
// for work; ok is false if none waits.
type NextWaiter func(role string) (claim Claim, ok bool)

// DecideAndClaim is Decide followed by a claim in the same decision. If the
// command dispatches the work of a state, the next waiter of its role claims it.
// claimed reports whether one did.
func DecideAndClaim(def *workflow.Definition, in Instance, cmd Command, next NextWaiter) (events []Event, claimed bool, err error) {
	d := decision{def: def, in: in, cmd: cmd}
	return d.decideAndClaim(next)
}

func (d *decision) decideAndClaim(next NextWaiter) (events []Event, claimed bool, err error) {
	if err := d.precheck(); err != nil {
		return nil, false, err
	}
	if err := d.cmd.Do.decide(d); err != nil {
		return nil, false, err
	}
	events = d.events
	if !dispatchesState(events) {
		return events, false, nil
	}
	claim, ok := next(d.in.Worker())
	if !ok {
		return events, false, nil
	}
	claim.Work = d.in.Work
	d.cmd.Do, d.cmd.Actor, d.resolved = claim, claim.Role+"/"+claim.Agent, false // as in a command of its own
	if d.claim(claim, true) != nil {                                             // refused: the queue has the work
		return slices.Clip(events), false, nil
	}
	return d.events, true, nil
}

// dispatchesState reports whether the last dispatch of the events is of the
// work of a state. Questions to roles always go through the queue.
func dispatchesState(events []Event) bool {
	for _, e := range slices.Backward(events) {
		if e, ok := e.(Dispatched); ok {
			return e.Question == 0
		}
	}
	return false
}

// decide dispatches directly claimed work to the queue once its claim has ended.
// From then on an unacknowledged delivery is redelivered and counted.
func (a Lapse) decide(d *decision) error {
	reason := givenBack
	switch c := d.in.Claim; {
	case !d.in.Direct || a.Work != d.in.Work:
		return d.refuse(CodeStale, nil, "work %d is not one that no queue has", a.Work)
	case c.Live(d.cmd.At):
		return d.refuse(CodeHeld, nil, "%s holds it until %s", c.Agent, stamp(c.Lease))
	case c != nil:
		reason = ranOut(c.Agent)
	}
	if d.in.Parked != nil || d.in.Worker() == "" || d.in.Paused {
		return d.refuse(CodePaused, nil, "%s waits", d.in.State)
	}
	d.dispatch(reason)
	return nil
}
