package view

import (
	"fmt"
	"time"

	"github.com/signalbox/signalbox/pkg/workflow"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// Table prints events as a table: when, what, from where to where, who and why.
// Heartbeats are left out: they say nothing but that somebody lives. As JSON it
// is one line an event, heartbeats too.
func Table(env *term.Env, events []Event) error {
	if env.JSON {
		for _, e := range events {
			if err := env.Print(e); err != nil {
				return err
			}
		}
		return nil
	}
	t := env.Table("seq", "time (utc)", "event", "from", "to", "actor", "reason")
	var last time.Time
	for _, e := range events {
		if e.Event == "lease_extended" {
			continue
		}
		t.Row(e.Seq, clock(last, e.Time), term.Cell{Style: e.style(), Text: e.name()}, e.From, term.Cell{Style: e.toStyle(), Text: e.To}, e.Actor, cut(e.Reason, 80))
		last = e.Time
	}
	return t.Print()
}

// clock is the time of day, with the date where it is another one.
func clock(last, t time.Time) string {
	t = t.UTC()
	if last.UTC().Format(time.DateOnly) == t.Format(time.DateOnly) {
		return t.Format("15:04:05.000")
	}
	return t.Format("2006-01-02 15:04:05.000")
}

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
	case e.Event == "gate_refused", e.Event == "proposal_refused", e.Event == "loop_detected", e.Event == "paused", e.Event == "asked":
		return term.Wait
	case e.Event == "moved", e.Event == "opened":
		return term.Bold
	}
	return term.Plain
}

func (e Event) toStyle() term.Style { return style(workflow.Kind(e.Kind), false, "") }

// Line prints one event as a line of a stream, or nothing for an event that is
// no news to people. took is how long the instance was in the state it left.
func Line(env *term.Env, e Event, took time.Duration, named bool) {
	what := ""
	switch e.Event {
	case "opened":
		what = "→ " + env.Paint(e.toStyle(), e.To)
	case "moved":
		what = term.Line(e.From) + " → " + env.Paint(e.toStyle(), e.To)
	case "asked", "answered", "paused", "resumed", "cancelled", "gate_refused", "proposal_refused", "loop_detected":
		what = env.Paint(e.style(), e.name())
	default:
		return
	}
	line := env.Paint(term.Faint, e.Time.UTC().Format(time.TimeOnly)) + "  "
	if named {
		line += env.Paint(term.Bold, term.Line(e.Instance)) + "  "
	}
	line += what
	if e.Actor != "" {
		line += "  " + term.Line(e.Actor)
	}
	if took > 0 && e.Event == "moved" {
		line += "  " + env.Paint(term.Faint, "after "+term.Duration(took))
	}
	if e.Reason != "" {
		line += "  " + cut(e.Reason, 100)
	}
	env.Printf("%s\n", line)
}

// Over reports whether nothing can move the instance after the event, and
// whether it ended as its lifecycle has it.
func (e Event) Over() (over, final bool) {
	final = (e.Event == "moved" || e.Event == "opened") && e.Kind == string(workflow.Final)
	return final || e.Event == cancelled, final
}

const cancelled = "cancelled"

// Here prints where an instance is, as the first line of a stream about it.
func Here(env *term.Env, in Instance) {
	text := env.Paint(style(in.Kind, in.Paused, in.Closed), in.where(env))
	if who := in.who(env); who != "" {
		text += "  " + term.Line(who)
	}
	env.Printf("%s  %s\n", env.Paint(term.Faint, env.Now().UTC().Format(time.TimeOnly)), text)
}
