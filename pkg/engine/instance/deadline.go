package instance

import (
	"slices"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// Expire means that the stay that began with commit Entered reached the deadline of
// Level. Decide checks it against the command's time.
type Expire struct {
	Entered uint64
	Level   workflow.Level
}

// TimedOut means that a stay reached a deadline.
type TimedOut struct {
	State string
	Level workflow.Level
	After time.Duration // since the state was entered; of a resumed wait, since it began
}

func (e TimedOut) apply(in *Instance, _ Commit) {
	in.Level = e.Level
}

// Due returns the next deadline of the current stay that has not been recorded,
// and the time it is reached. ok is false if there is none.
func Due(def *workflow.Definition, in Instance) (next workflow.Deadline, at time.Time, ok bool) {
	if in.Closed != "" {
		return next, at, false
	}
	state, _ := def.State(in.State)
	deadlines := def.Deadlines(state)
	passed := slices.IndexFunc(deadlines, func(d workflow.Deadline) bool { return d.Level == in.Level })
	if passed+1 >= len(deadlines) {
		return next, at, false
	}
	next = deadlines[passed+1]
	return next, in.DeadlinesSince().Add(next.After), true
}

// decide records that the stay reached a deadline and runs the state's reaction.
// It refuses a timer of an earlier stay or of a recorded deadline as stale, and
// one before its time as early. The time is the command's.
func (a Expire) decide(d *decision) error {
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
		return d.refuse(CodeStale, nil, "%s is reported already", a.Level)
	case d.cmd.At.Before(d.in.DeadlinesSince().Add(deadlines[i].After)):
		return d.refuse(CodeEarly, nil, "%s of %s is due at %s", a.Level, d.in.State, stamp(d.in.DeadlinesSince().Add(deadlines[i].After)))
	}
	d.record(TimedOut{d.in.State, a.Level, d.cmd.At.Sub(d.in.DeadlinesSince())})
	return d.react(deadlines[i].Reaction, nil)
}
