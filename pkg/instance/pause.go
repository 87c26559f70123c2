package instance

// pause stops dispatch; a claim ends with it.
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

// resume ends a pause and dispatches the work.
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
