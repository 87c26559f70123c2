package instance

import (
	"slices"
	"time"

	"github.com/signalbox/signalbox/pkg/workflow"
)

// Due returns the next deadline of the stay that nobody was told of, and when it
// is reached. ok is false if there is none.
func Due(def *workflow.Definition, in Instance) (next workflow.Deadline, at time.Time, ok bool) {
	if in.Closed != "" {
		return next, at, false
	}
	state, _ := def.State(in.State)
	deadlines := def.Deadlines(state)
	told := slices.IndexFunc(deadlines, func(d workflow.Deadline) bool { return d.Level == in.Level })
	if told+1 >= len(deadlines) {
		return next, at, false
	}
	next = deadlines[told+1]
	return next, in.EnteredAt.Add(next.After), true
}

// expire records that a stay reached a deadline, and does what the state says
// to it. A timer of a stay that is over, or one that was heard before, is
// refused as stale, one that comes early as early: time is the command's.
func (d *decision) expire(a Expire) error {
	state, _ := d.def.State(d.in.State)
	deadlines := d.def.Deadlines(state)
	level := func(l workflow.Level) int {
		return slices.IndexFunc(deadlines, func(d workflow.Deadline) bool { return d.Level == l })
	}
	i := level(a.Level)
	switch {
	case a.Entered != d.in.Entered:
		return d.refuse(CodeStale, nil, "the stay in %s began with commit %d", d.in.State, d.in.Entered)
	case i < 0:
		return d.refuse(CodeInvalid, nil, "%s has no deadline of level %q", d.in.State, a.Level)
	case d.in.Level != "" && level(d.in.Level) >= i:
		return d.refuse(CodeStale, nil, "%s is told already", a.Level)
	case d.cmd.At.Before(d.in.EnteredAt.Add(deadlines[i].After)):
		return d.refuse(CodeEarly, nil, "%s of %s is due at %s", a.Level, d.in.State, stamp(d.in.EnteredAt.Add(deadlines[i].After)))
	}
	d.record(TimedOut{d.in.State, a.Level, d.cmd.At.Sub(d.in.EnteredAt)})
	return d.react(deadlines[i].Reaction, nil)
}

// wake ends a stay that was parked for a time.
func (d *decision) wake(a Wake) error {
	p := d.in.Parked
	e, held := d.in.Escalation()
	switch {
	case p == nil || p.Until.IsZero() || !p.Until.Equal(a.Until):
		return d.refuse(CodeStale, nil, "%s is not parked until %s", d.in.State, stamp(a.Until))
	case d.cmd.At.Before(p.Until):
		return d.refuse(CodeEarly, nil, "%s is parked until %s", d.in.State, stamp(p.Until))
	case d.in.Paused:
		return d.refuse(CodePaused, []string{"resume"}, "paused: %s", d.in.Reason)
	case held:
		return d.refuse(CodePaused, []string{"resolve"}, "people are asked: %s", e.Reason)
	}
	return d.runAlways(true)
}
