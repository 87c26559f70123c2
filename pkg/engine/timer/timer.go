// Package timer keeps the deadlines of stays in a state, and the ends of parks, as durable
// timers. They are messages that nats-server holds back until they are due. Which timers
// there should be is derived from the instances; a Keeper makes the stream TIMERS match.
//
//	log ─▶ states ─▶ Keep ── arm, disarm ──▶ sb.timer.armed.KIND.INSTANCE
//	 ▲                ▲                            │ at its time, by the server
//	 └─── engine ◀─ Fire ◀───── consumer ◀── sb.timer.fired.KIND.INSTANCE
//
// A timer is a hint: the engine refuses one of a stay that is over, one that was
// handled before, and one that fires early.
package timer

import (
	"fmt"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// Kind is the kind of a timer. An instance has at most one timer of each.
type Kind string

const (
	// Deadline is the next deadline of the stay in a state.
	Deadline Kind = "deadline"
	// Wake is the end of a park.
	Wake Kind = "wake"
	// Default is the moment at which the next default of a question is taken.
	Default Kind = "default"
)

// kinds lists them.
func kinds() []Kind { return []Kind{Deadline, Wake, Default} }

// Timer is one moment of one stay of an instance in a state.
type Timer struct {
	Instance string
	Kind     Kind
	Due      time.Time
	Entered  uint64         // sequence of the commit that began the stay
	Level    workflow.Level // of a Deadline
	Commit   uint64         // newest commit that it was derived from
}

// timerKey identifies the timer of one kind of an instance.
type timerKey struct {
	instance string
	kind     Kind
}

func (t Timer) key() timerKey { return timerKey{t.Instance, t.Kind} }

// Of returns the timers that an instance should have: at most one of each kind.
// The next deadline comes after the one that passed, so a stay has one at a time.
func Of(def *workflow.Definition, in instance.Instance) []Timer {
	if in.Closed != "" || !in.Exists() {
		return nil
	}
	var all []Timer
	state, _ := def.State(in.State)
	passed := in.Level == ""
	for _, d := range def.Deadlines(state) {
		if passed {
			all = append(all, Timer{in.ID, Deadline, in.DeadlinesSince().Add(d.After), in.Entered, d.Level, in.Seq})
			break
		}
		passed = d.Level == in.Level
	}
	// A paused instance is dispatched when it is resumed, one without a worker when it
	// gets one.
	if p := in.Parked; p != nil && !p.Until.IsZero() && !in.Paused && in.Worker() != "" {
		all = append(all, Timer{in.ID, Wake, p.Until, in.Entered, "", in.Seq})
	}
	if due, ok := in.DefaultDue(); ok {
		all = append(all, Timer{in.ID, Default, due, in.Entered, "", in.Seq})
	}
	return all
}

// Affects reports whether a commit may change the timers of an instance, given its
// state before and after. Most commits do not: a claim, a heartbeat, a move between
// states without timeouts.
func Affects(before, after instance.Instance) bool {
	was, _ := before.DefaultDue()
	is, _ := after.DefaultDue()
	switch {
	case before.Parked != nil || after.Parked != nil || !was.Equal(is) || !is.IsZero() && before.Closed != after.Closed:
		return true
	case before.Timeout == 0 && after.Timeout == 0:
		return false
	}
	return before.Entered != after.Entered || before.Level != after.Level || before.Closed != after.Closed ||
		before.Definition != after.Definition
}

// Command returns the command of a fired timer. Its id is derived from the timer,
// so repeated commands are one.
func (t Timer) Command() instance.Command {
	cmd := instance.Command{Instance: t.Instance, Actor: Actor}
	switch t.Kind {
	case Deadline:
		cmd.ID = fmt.Sprintf("expire-%d-%s", t.Entered, t.Level)
		cmd.Do = instance.Expire{Entered: t.Entered, Level: t.Level}
	case Wake:
		cmd.ID = fmt.Sprintf("wake-%d-%d", t.Entered, t.Due.UnixNano())
		cmd.Do = instance.Wake{Until: t.Due}
	case Default:
		cmd.ID = fmt.Sprintf("default-%d", t.Due.UnixNano())
		cmd.Do = instance.TakeDefaults{}
	}
	return cmd
}

// Actor is the actor of the commands.
const Actor = "orchestrator"

// same reports whether two timers are of the same moment of the same stay.
func (t Timer) same(o Timer) bool {
	return t.Kind == o.Kind && (t.Entered == o.Entered || t.Kind == Default) && t.Level == o.Level && t.Due.Equal(o.Due)
}
