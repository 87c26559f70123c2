package instance

// Cancel closes the instance in its state.
type Cancel struct{ Reason string }

// CancelledBy closes the instance in its state.
type CancelledBy struct{ Reason string }

func (e CancelledBy) apply(in *Instance, _ Commit) {
	in.Closed, in.Reason, in.Claim = Cancelled, e.Reason, nil
}

// decide closes the instance in its state, a live claim or not.
func (a Cancel) decide(d *decision) error {
	if err := d.authorize("cancel"); err != nil {
		return err
	}
	d.record(CancelledBy{a.Reason})
	return nil
}
