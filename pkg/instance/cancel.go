package instance

// cancel closes the instance in its state, a live claim or not.
func (d *decision) cancel(a Cancel) error {
	if err := d.authorize("cancel"); err != nil {
		return err
	}
	d.record(CancelledBy{a.Reason})
	return nil
}
