package instance

import "time"

// Hold parks work that nobody has claimed until a time, because nothing may be spent on
// it before. Work is the commit that dispatched it.
type Hold struct {
	Work   uint64
	Until  time.Time
	Reason string
}

// decide parks the work of the state's owner. What is asked of another role is not held:
// it would be forgotten.
func (a Hold) decide(d *decision) error {
	switch {
	case a.Work != d.in.Work:
		return d.refuse(CodeStale, nil, "work %d is past: %s was dispatched as work %d", a.Work, d.in.State, d.in.Work)
	case !a.Until.After(d.cmd.At):
		return d.refuse(CodeInvalid, nil, "%s is past", stamp(a.Until))
	case d.in.Claim.Live(d.cmd.At):
		return d.refuse(CodeHeld, nil, "%s holds it until %s", d.in.Claim.Agent, stamp(d.in.Claim.Lease))
	case d.in.Paused, d.in.Parked != nil, !d.ownerIsWorker():
		return d.refuse(CodePaused, nil, "%s waits", d.in.State)
	}
	d.record(ParkedUntil{State: d.in.State, Until: a.Until, Reason: a.Reason})
	return nil
}
