package instance

// migrate replaces the definition of the instance with d.def. The state stays.
func (d *decision) migrate(a Migrate) error {
	state, ok := d.def.State(d.in.State)
	switch {
	case d.def.Hash == d.in.Definition:
		return d.refuse(CodeInvalid, nil, "it is on this definition already")
	case d.def.Name != d.in.Workflow:
		return d.refuse(CodeInvalid, []string{d.in.Workflow}, "%s is another lifecycle", d.def.Name)
	case !ok:
		return d.refuse(CodeInvalid, d.def.StateNames(), "the new definition has no state %s", d.in.State)
	}
	if err := d.authorize("migrate"); err != nil {
		return err
	}
	if d.in.Claim.Live(d.cmd.At) {
		return d.refuse(CodeHeld, nil, "%s works on it until %s", d.in.Claim.Agent, stamp(d.in.Claim.Lease))
	}
	d.record(Migrated{d.in.Definition, d.def.Hash, state.Owner, state.Kind, state.Timeout, a.Reason})
	return d.runAlways(true)
}
