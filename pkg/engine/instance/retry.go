package instance

// Retry dispatches the work again. It is refused while a claim is live.
type Retry struct{ Reason string }

// decide dispatches the work again unless a claim is live.
func (a Retry) decide(d *decision) error {
	open, escalated := d.in.Escalation()
	switch {
	case d.in.Paused:
		return d.refuse(CodePaused, []string{"resume"}, "paused: %s", d.in.Reason)
	case escalated:
		return d.refuse(CodePaused, []string{"resolve"}, "people are asked: %s", open.Reason)
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
