package view

import (
	"fmt"
	"time"

	"github.com/signalbox/signalbox/pkg/workflow"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// Table prints events as a table without heartbeats. As JSON it prints one line for
// each event, also for heartbeats.
func Table(env *term.Env, events []Event) error {
	if env.JSON {
		for _, e := range events {
			if err := env.Print(e); err != nil {
				return err
			}
		}
		return nil
	}
	t := env.Table("seq", "time (utc)", "event", "from", "to", "actor", "reason").Narrow("reason", "actor", "from", "to", "event")
	var last time.Time
	for _, e := range events {
		if e.Event == "lease_extended" {
			continue
		}
		name, to := term.Cell{Style: e.style(), Text: e.name()}, term.Cell{Style: e.toStyle(), Text: e.To}
		t.Row(e.Seq, clock(last, e.Time), name, e.From, to, e.Actor, cut(e.Reason, 80))
		last = e.Time
	}
	return t.Print()
}

// clock formats the time of t, with the date if it is not that of last.
func clock(last, t time.Time) string {
	t = t.UTC()
	if last.UTC().Format(time.DateOnly) == t.Format(time.DateOnly) {
		return t.Format("15:04:05.000")
	}
	return t.Format("2006-01-02 15:04:05.000")
}

// name returns the name of the event with the number of its question or escalation.
func (e Event) name() string {
	switch {
	case e.Number == 0:
		return e.Event
	case e.Event == "escalated", e.Event == "resolved":
		return fmt.Sprintf("%s E%d", e.Event, e.Number)
	}
	return fmt.Sprintf("%s Q%d", e.Event, e.Number)
}

func (e Event) style() term.Style {
	switch {
	case e.Failure, e.Fault, e.Event == cancelled:
		return term.Bad
	case e.Event == "gate_refused", e.Event == "statement_refused", e.Event == "proposal_refused", e.Event == "loop_detected",
		e.Event == "paused", e.Event == "asked":
		return term.Wait
	case e.Event == "moved", e.Event == "opened":
		return term.Bold
	}
	return term.Plain
}

func (e Event) toStyle() term.Style { return stateStyle(workflow.Kind(e.Kind), false, "") }
