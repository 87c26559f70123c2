package instance

import (
	"time"

	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// Migrate replaces the instance's definition with the one passed to Decide.
type Migrate struct{ Reason string }

// Migrated replaces the definition.
type Migrated struct {
	From       string // content hashes
	Definition string
	Owner      string // of the state, which stays
	Kind       workflow.Kind
	Timeout    time.Duration
	Reason     string
}

func (e Migrated) apply(in *Instance, _ Commit) {
	in.Definition = e.Definition
	in.Owner, in.Kind, in.Timeout = e.Owner, e.Kind, e.Timeout
	in.Claim, in.Parked = nil, nil
	if e.Kind == workflow.Final {
		in.Closed = Ended
	}
}

// decide replaces the definition of the instance with d.def. The state stays.
func (a Migrate) decide(d *decision) error {
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
