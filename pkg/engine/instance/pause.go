package instance

// ForIssues begins the reason of a pause until other issues are closed. Their names follow.
const ForIssues = "it waits for "

// Pause stops dispatch and ends the claim.
type Pause struct{ Reason string }

// Resume ends a pause.
type Resume struct{ Reason string }

// Paused stops dispatch until Resumed.
type Paused struct{ Reason string }

func (e Paused) apply(in *Instance, _ Commit) {
	in.Paused, in.Reason, in.Claim = true, e.Reason, nil
}

// Resumed ends a pause. The reason of the newest move holds again.
type Resumed struct{ Reason string }

func (e Resumed) apply(in *Instance, _ Commit) {
	in.Paused, in.Reason, in.Faults = false, in.MoveReason, 0
}

// decide stops dispatch; a claim ends with it.
func (a Pause) decide(d *decision) error {
	if d.in.Paused {
		return d.refuse(CodePaused, []string{"resume"}, "already paused: %s", d.in.Reason)
	}
	if err := d.authorize("pause"); err != nil {
		return err
	}
	d.record(Paused{a.Reason})
	return nil
}

// decide ends a pause and dispatches the work.
func (a Resume) decide(d *decision) error {
	if !d.in.Paused {
		return d.refuse(CodeInvalid, []string{"pause"}, "not paused")
	}
	if err := d.authorize("resume"); err != nil {
		return err
	}
	d.record(Resumed{a.Reason})
	return d.runAlways(true)
}
