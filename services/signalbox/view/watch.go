package view

import (
	"time"

	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// Line prints one event as a line of a stream. It prints nothing for events that do
// not concern people. took is the time in the state that the event left; named has
// the line begin with the instance.
func Line(env *term.Env, e Event, took time.Duration, named bool) {
	what := ""
	switch e.Event {
	case "opened":
		what = "→ " + env.Paint(e.toStyle(), e.To)
	case "moved":
		what = term.Line(e.From) + " → " + env.Paint(e.toStyle(), e.To)
	case "asked", "answered", "paused", "resumed", "cancelled", "reopened", "gate_refused", "statement_refused", "proposal_refused", "loop_detected":
		what = env.Paint(e.style(), e.Name())
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

// Over reports whether the instance is closed after the event, and whether it ended in
// a final state.
func (e Event) Over() (over, final bool) {
	final = (e.Event == "moved" || e.Event == "opened") && e.Kind == string(workflow.Final)
	return final || e.Event == cancelled, final
}

const cancelled = "cancelled"

// Here prints the state of an instance, as the first line of a stream about it.
func Here(env *term.Env, in Instance) {
	text := env.Paint(stateStyle(in.Kind, in.Paused, in.Closed), in.where(env))
	if assignee := in.assignee(env); assignee != "" {
		text += "  " + term.Line(assignee)
	}
	env.Printf("%s  %s\n", env.Paint(term.Faint, env.Now().UTC().Format(time.TimeOnly)), text)
}
