package view

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// machinery reports whether an event only says how work is given out, or repeats the move
// that follows it.
func machinery(event string) bool {
	return slices.Contains([]string{"dispatched", "claimed", "spent", "reported"}, event)
}

// Table prints events for people, each with its reason on lines of its own, and without
// those that only say how work is given out, unless all are wanted. Heartbeats are never
// printed. As JSON it prints one line for each event, also for heartbeats.
func Table(env *term.Env, events []Event, all bool) error {
	return Replay(env, events, all, func(Event) error { return nil })
}

// Replay is Table that calls before with each event that it is about to print. An error of it ends the table.
func Replay(env *term.Env, events []Event, all bool, before func(Event) error) error {
	if env.JSON {
		for _, e := range events {
			if err := before(e); err != nil {
				return err
			}
			if err := env.Print(e); err != nil {
				return err
			}
		}
		return nil
	}
	wide := 0
	events = slices.DeleteFunc(slices.Clone(events), func(e Event) bool {
		omitted := e.Event == "lease_extended" || !all && machinery(e.Event)
		if !omitted {
			wide = max(wide, len(fmt.Sprint(e.Seq)))
		}
		return omitted
	})
	day := ""
	margin := strings.Repeat(" ", wide+len("  15:04:05  "))
	for _, e := range events {
		if err := before(e); err != nil {
			return err
		}
		if today := e.Time.UTC().Format(time.DateOnly); today != day {
			day = today
			env.Printf("%s\n", env.Paint(term.Faint, day+" UTC"))
		}
		line := fmt.Sprintf("%*d  %s  ", wide, e.Seq, env.Paint(term.Faint, e.Time.UTC().Format(time.TimeOnly))) + e.headline(env)
		if e.Actor != "" {
			line += "  " + env.Paint(term.Faint, term.Line(e.Actor))
		}
		env.Printf("%s\n", line)
		if reason := strings.TrimSpace(term.Text(e.Reason)); reason != "" {
			width := env.Width
			if width > 0 {
				width = max(width-len(margin), len(margin))
			}
			env.Printf("%s\n", term.Indent(term.Wrap(reason, width), margin))
		}
	}
	return nil
}

// headline is the move, or the name of another event.
func (e Event) headline(env *term.Env) string {
	switch e.Event {
	case "opened":
		return env.Paint(e.style(), "opened in ") + env.Paint(e.toStyle(), term.Line(e.To))
	case "moved":
		return term.Line(e.From) + " → " + env.Paint(e.toStyle(), term.Line(e.To))
	}
	return env.Paint(e.style(), e.Name())
}

// Name returns the name of the event with the number of its question or escalation.
func (e Event) Name() string {
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
