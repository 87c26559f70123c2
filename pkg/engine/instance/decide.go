package instance

import (
	"fmt"
	"reflect"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// Decide returns the events that a command records, or a *Refusal. It is pure:
// the same arguments give the same result.
func Decide(def *workflow.Definition, in Instance, cmd Command) ([]Event, error) {
	d := decision{def: def, in: in, cmd: cmd}
	if err := d.precheck(); err != nil {
		return nil, err
	}
	if err := cmd.Do.decide(&d); err != nil {
		return nil, err
	}
	return d.events, nil
}

// decision is one call of Decide. Each recorded event is applied to in at once,
// so guards see the result they decide on.
type decision struct {
	def    *workflow.Definition
	in     Instance
	cmd    Command
	events []Event // recorded so far

	tried *[]Tried // guards evaluated so far; nil: they are not kept

	resolved bool // this decision resolved the escalation that held the instance

	factsCache *workflow.Facts // of in when len(events) was factsAt
	factsAt    int
}

// record appends events to the decision and applies them.
func (d *decision) record(events ...Event) {
	for _, e := range events {
		d.events = append(d.events, e)
		e.apply(&d.in, Commit{Seq: d.in.Seq, At: d.cmd.At})
	}
}

// refuse returns a refusal. allowed is what would be permitted instead.
func (d *decision) refuse(code Code, allowed []string, format string, args ...any) error {
	return &Refusal{code, d.cmd.Instance, fmt.Sprintf(format, args...), allowed}
}

// precheck refuses commands that are malformed or that no state permits.
func (d *decision) precheck() error {
	_, opens := d.cmd.Do.(Open)
	switch {
	case d.cmd.ID == "":
		return d.refuse(CodeInvalid, nil, "a command needs an id")
	case d.cmd.Instance == "":
		return d.refuse(CodeInvalid, nil, "a command names its instance")
	case d.cmd.Do == nil:
		return d.refuse(CodeInvalid, nil, "the command has no action")
	case reflect.TypeOf(d.cmd.Do).Kind() == reflect.Pointer: // no type switch would know it
		return d.refuse(CodeInvalid, nil, "%T is not an action", d.cmd.Do)
	case opens && d.in.Exists():
		return d.refuse(CodeExists, nil, "there is already an instance of this id, in %s", d.in.State)
	case !opens && !d.in.Exists():
		return d.refuse(CodeUnknownInstance, nil, "no such instance")
	case !opens && d.in.Closed != "" && !takenClosed(d.cmd.Do):
		return d.refuse(CodeClosed, []string{"reopen"}, "%s in %s: nothing moves it any more", d.in.Closed, d.in.State)
	}
	return nil
}

// takenClosed reports whether a closed instance accepts the action: it adds to
// the record and moves nothing, or opens the instance again.
func takenClosed(a Action) bool {
	switch a.(type) {
	case Note, Signal, End, Reopen:
		return true
	}
	return false
}

// stamp formats a time for the text of a refusal.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
