package instance

import (
	"strings"
	"time"
)

// Wait is what work waits for that is parked in place of its claim.
type Wait string

// Reasons for which Hold parks work.
const (
	ForPlace  Wait = "place"  // a limit of what is under way
	ForBudget Wait = "budget" // a budget that is spent
)

// placeReason begins the reason of a park for a place. Logs before ParkedUntil.WaitsFor
// have nothing else that says so.
const placeReason = "it waits for a place: "

// placeFree begins the reason of a dispatch by Admit. A Wait follows.
const placeFree = "there is a "

// Hold parks work that nobody has claimed, and nobody may. Work is the commit that
// dispatched it. Only the engine gives it.
type Hold struct {
	Work   uint64
	For    Wait
	Until  time.Time // zero: until Admit
	Reason string
}

// Admit dispatches work again that Hold has parked. Only the engine gives it.
type Admit struct{ Work uint64 }

// WaitsFor returns what Hold has parked the work for; empty if it has not.
func (in Instance) WaitsFor() Wait {
	if in.Parked == nil {
		return ""
	}
	return in.Parked.WaitsFor
}

// waitsFor returns what the work is parked for.
func (e ParkedUntil) waitsFor() Wait {
	if e.WaitsFor == "" && strings.HasPrefix(e.Reason, placeReason) {
		return ForPlace
	}
	return e.WaitsFor
}

// decide parks the work of the state's owner. A question to another role is not held: it
// would be forgotten.
func (a Hold) decide(d *decision) error {
	switch {
	case a.Work != d.in.Work:
		return d.refuse(CodeStale, nil, "work %d is past: %s was dispatched as work %d", a.Work, d.in.State, d.in.Work)
	case !a.Until.IsZero() && !a.Until.After(d.cmd.At):
		return d.refuse(CodeInvalid, nil, "%s is past", stamp(a.Until))
	case d.in.Claim.Live(d.cmd.At):
		return d.refuse(CodeHeld, nil, "%s holds it until %s", d.in.Claim.Agent, stamp(d.in.Claim.Lease))
	case d.in.Paused, d.in.Parked != nil, !d.ownerIsWorker():
		return d.refuse(CodePaused, nil, "%s waits", d.in.State)
	}
	if a.For == ForPlace {
		a.Reason = placeReason + a.Reason
	}
	d.record(ParkedUntil{State: d.in.State, Until: a.Until, Reason: a.Reason, WaitsFor: a.For})
	return nil
}

// decide dispatches the work again.
func (a Admit) decide(d *decision) error {
	waits := d.in.WaitsFor()
	switch {
	case a.Work != d.in.Work || waits == "":
		return d.refuse(CodeStale, nil, "work %d of %s is not held", a.Work, d.in.State)
	case d.in.Claim.Live(d.cmd.At): // the clock ran back
		return d.refuse(CodeHeld, nil, "%s holds it until %s", d.in.Claim.Agent, stamp(d.in.Claim.Lease))
	case d.in.Paused || !d.ownerIsWorker():
		return d.refuse(CodePaused, nil, "%s waits", d.in.State)
	}
	d.dispatch(placeFree + string(waits))
	return nil
}
