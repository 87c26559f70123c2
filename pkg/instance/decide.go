package instance

import (
	"fmt"
	"time"

	"github.com/signalbox/signalbox/pkg/workflow"
)

// Decide returns the events that a command records, or a *Refusal. It is pure:
// the same arguments give the same result.
func Decide(def *workflow.Definition, in Instance, cmd Command) ([]Event, error) {
	d := decision{def: def, in: in, cmd: cmd}
	if err := d.precheck(); err != nil {
		return nil, err
	}
	if err := d.decide(); err != nil {
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

	resolved bool // this decision resolved the escalation that held the instance

	factsCache *workflow.Facts // of in when len(events) was factsAt
	factsAt    int
}

// record appends events to the decision and applies them.
func (d *decision) record(events ...Event) {
	for _, e := range events {
		d.events = append(d.events, e)
		d.in.apply(Commit{Seq: d.in.Seq, At: d.cmd.At}, e)
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
		return d.refuse(CodeInvalid, nil, "a command says what to do")
	case opens && d.in.Exists():
		return d.refuse(CodeExists, nil, "there is already an instance of this id, in %s", d.in.State)
	case !opens && !d.in.Exists():
		return d.refuse(CodeUnknownInstance, nil, "no such instance")
	case !opens && d.in.Closed != "" && !recordOnly(d.cmd.Do):
		return d.refuse(CodeClosed, nil, "%s in %s: nothing moves it any more", d.in.Closed, d.in.State)
	}
	return nil
}

// recordOnly reports whether a closed instance accepts the action: it adds to
// the record and moves nothing.
func recordOnly(a Action) bool {
	switch a.(type) {
	case Note, Signal, End:
		return true
	}
	return false
}

// decide has a case for every action.
func (d *decision) decide() error {
	switch a := d.cmd.Do.(type) {
	case Open:
		return d.open(a)
	case Claim:
		return d.claim(a, false)
	case Heartbeat:
		return d.heartbeat(a)
	case Lapse:
		return d.lapse(a)
	case Inquire:
		return d.inquire(a)
	case Escalate:
		return d.escalate(a)
	case Resolve:
		return d.resolve(a)
	case Expire:
		return d.expire(a)
	case Wake:
		return d.wake(a)
	case End:
		return d.linkEnded(a)
	case Migrate:
		return d.migrate(a)
	case Report:
		return d.report(a)
	case Release:
		return d.release(a.Token, a.Reason, false)
	case Fail:
		return d.release(a.Token, a.Reason, true)
	case Signal:
		return d.signal(a)
	case Ask:
		return d.ask(a)
	case Answer:
		return d.answer(a)
	case Note:
		d.record(Noted{d.cmd.Actor, a.Kind, a.Text})
	case Spend:
		return d.spend(a)
	case Override:
		return d.override(a)
	case Pause:
		return d.pause(a)
	case Resume:
		return d.resume(a)
	case Cancel:
		return d.cancel(a)
	case Retry:
		return d.retry(a)
	default:
		return d.refuse(CodeInvalid, nil, "%T is not an action", a)
	}
	return nil
}

// dispatch makes the work available to the role that is to work next. It does
// nothing if there is none, or if the instance is paused or closed.
func (d *decision) dispatch(reason string) {
	role := d.in.Worker()
	if role == "" || d.in.Paused || d.in.Closed != "" {
		return
	}
	q, _ := d.in.Inquiry()
	d.record(Dispatched{State: d.in.State, Owner: role, Reason: reason, Question: q.Number})
}

// stamp formats a time for the text of a refusal.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
