package instance

import (
	"fmt"
	"slices"
	"time"

	"github.com/signalbox/signalbox/pkg/workflow"
)

// Decide answers one command: the events to record, or a *Refusal. It is pure.
func Decide(def *workflow.Definition, in Instance, cmd Command) ([]Event, error) {
	d := decision{def: def, in: in, cmd: cmd}
	if err := d.admit(); err != nil {
		return nil, err
	}
	if err := d.decide(); err != nil {
		return nil, err
	}
	return d.events, nil
}

// decision is one Decide under way: in already holds what was recorded so far,
// so that rules see the result they decide on.
type decision struct {
	def    *workflow.Definition
	in     Instance
	cmd    Command
	events []Event
}

func (d *decision) record(events ...Event) {
	for _, e := range events {
		d.events = append(d.events, e)
		d.in = apply(d.in, Commit{Seq: d.in.Seq, At: d.cmd.At}, e)
	}
}

func (d *decision) refuse(code Code, allowed []string, format string, args ...any) error {
	return &Refusal{code, d.cmd.Instance, fmt.Sprintf(format, args...), allowed}
}

// admit refuses what no action may do, whatever the state.
func (d *decision) admit() error {
	_, opens := d.cmd.Do.(Open)
	switch {
	case d.cmd.ID == "":
		return d.refuse(Invalid, nil, "a command needs an id")
	case d.cmd.Instance == "":
		return d.refuse(Invalid, nil, "a command names its instance")
	case d.cmd.Do == nil:
		return d.refuse(Invalid, nil, "a command says what to do")
	case opens && d.in.Exists():
		return d.refuse(Exists, nil, "there is already an instance of this id, in %s", d.in.State)
	case !opens && !d.in.Exists():
		return d.refuse(Unknown, nil, "no such instance")
	case !opens && d.in.Closed != "" && !remark(d.cmd.Do):
		return d.refuse(Over, nil, "%s in %s: nothing moves it any more", d.in.Closed, d.in.State)
	}
	return nil
}

// remark tells the actions that a closed instance still takes: they only add to its record.
func remark(a Action) bool {
	switch a.(type) {
	case Remark, Signal:
		return true
	}
	return false
}

func (d *decision) decide() error {
	switch a := d.cmd.Do.(type) {
	case Open:
		return d.open(a)
	case Take:
		return d.take(a)
	case Heartbeat:
		return d.heartbeat(a)
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
	case Reply:
		return d.reply(a)
	case Remark:
		d.record(Noted{d.cmd.Actor, a.Kind, a.Text})
	case Charge:
		return d.charge(a)
	case Override:
		return d.override(a)
	case Pause:
		return d.pause(a)
	case Resume:
		return d.resume(a)
	case Cancel:
		d.record(CancelledBy{a.Reason})
	case Retry:
		return d.retry(a)
	default:
		return d.refuse(Invalid, nil, "%T is not an action", a)
	}
	return nil
}

func (d *decision) open(a Open) error {
	if a.Issue.Title == "" {
		return d.refuse(Invalid, nil, "an issue needs a title")
	}
	first, _ := d.def.State(d.def.Initial)
	d.record(Opened{d.def.Name, d.def.Hash, a.Issue, a.Base, a.Bundle, first.Name, first.Owner, first.Kind})
	d.dispatch()
	return nil
}

func (d *decision) take(a Take) error {
	live := d.in.Claim.Live(d.cmd.At)
	switch {
	case d.in.Paused:
		return d.refuse(OnHold, []string{"resume"}, "paused: %s", d.in.Reason)
	case a.Role == "" || a.Agent == "" || a.Lease <= 0:
		return d.refuse(Invalid, nil, "a claim names its role, its agent and a lease above zero")
	case a.Role != d.in.Owner:
		return d.refuse(NotOwner, d.owners(), "%s does not own %s", a.Role, d.in.State)
	case a.Work != d.in.Work:
		return d.refuse(Stale, nil, "work %d is past: %s was dispatched as work %d", a.Work, d.in.State, d.in.Work)
	case live && d.in.Claim.Agent == a.Agent:
		return d.refuse(Held, nil, "%s already holds it, token %d, until %s", a.Agent, d.in.Claim.Token, stamp(d.in.Claim.Lease))
	case live:
		return d.refuse(Held, nil, "%s holds it until %s", d.in.Claim.Agent, stamp(d.in.Claim.Lease))
	}
	lapsed := ""
	if d.in.Claim != nil {
		lapsed = d.in.Claim.Agent
	}
	d.record(Claimed{d.in.Tokens + 1, a.Role, a.Agent, d.cmd.At.Add(a.Lease), lapsed})
	return nil
}

func (d *decision) owners() []string {
	if d.in.Owner == "" {
		return nil
	}
	return []string{d.in.Owner}
}

// hold refuses all but the holder of the live claim.
func (d *decision) hold(token uint64) error {
	c := d.in.Claim
	switch {
	case d.in.Paused:
		return d.refuse(OnHold, []string{"resume"}, "paused: %s", d.in.Reason)
	case c == nil:
		return d.refuse(Lapsed, nil, "nobody holds a claim in %s; token %d is over", d.in.State, token)
	case c.Token != token:
		return d.refuse(Lapsed, nil, "token %d is over: %s holds token %d", token, c.Agent, c.Token)
	case !c.Live(d.cmd.At):
		return d.refuse(Lapsed, nil, "the lease of token %d ran out at %s", token, stamp(c.Lease))
	}
	return nil
}

func (d *decision) heartbeat(a Heartbeat) error {
	if a.Lease <= 0 {
		return d.refuse(Invalid, nil, "a heartbeat asks for a lease above zero")
	}
	if err := d.hold(a.Token); err != nil {
		return err
	}
	d.record(LeaseExtended{a.Token, d.cmd.At.Add(a.Lease)})
	return nil
}

// defaultFaults is how many infrastructure faults in one state pause an
// instance whose definition has no policy max_faults.
const defaultFaults = 20

func (d *decision) release(token uint64, reason string, fault bool) error {
	if err := d.hold(token); err != nil {
		return err
	}
	d.record(Released{token, d.in.Claim.Agent, reason, fault})
	if !fault {
		d.dispatch() // to whoever is free, at once; after a fault the delivery comes again, later
		return nil
	}
	limit, ok := d.def.Policy["max_faults"].(int64)
	if !ok {
		limit = defaultFaults
	}
	if int64(d.in.Faults) >= limit {
		d.record(Paused{fmt.Sprintf("%d infrastructure faults in %s, the last: %s", d.in.Faults, d.in.State, reason)})
	}
	return nil
}

func (d *decision) ask(a Ask) error {
	if err := d.hold(a.Token); err != nil {
		return err
	}
	if a.Text == "" {
		return d.refuse(Invalid, nil, "a question needs a text")
	}
	d.record(Asked{len(d.in.Questions) + 1, d.in.Claim.Role, a.Text})
	return nil
}

func (d *decision) reply(a Reply) error {
	open := d.in.OpenQuestions()
	if !slices.ContainsFunc(open, func(q Question) bool { return q.Number == a.Number }) {
		var allowed []string
		for _, q := range open {
			allowed = append(allowed, fmt.Sprint(q.Number))
		}
		return d.refuse(Invalid, allowed, "question %d is not open", a.Number)
	}
	d.record(Answered{a.Number, a.Text, d.cmd.Actor})
	return nil
}

func (d *decision) charge(a Charge) error {
	if err := d.hold(a.Token); err != nil {
		return err
	}
	if !a.Spend.valid() {
		return d.refuse(Invalid, nil, "a cost is a number that is not below zero")
	}
	d.record(Spent{a.Spend})
	return nil
}

func (d *decision) override(a Override) error {
	to, ok := d.def.State(a.To)
	switch {
	case !ok:
		return d.refuse(Invalid, d.def.StateNames(), "%q is not a state of %s", a.To, d.def.Name)
	case a.Reason == "":
		return d.refuse(Invalid, nil, "an override needs a reason")
	}
	d.record(Moved{From: d.in.State, To: to.Name, Owner: to.Owner, Kind: to.Kind, Rule: "override", Reason: a.Reason, Loop: d.inLoop(), Override: true})
	d.dispatch()
	return nil
}

func (d *decision) pause(a Pause) error {
	if d.in.Paused {
		return d.refuse(OnHold, []string{"resume"}, "already paused: %s", d.in.Reason)
	}
	d.record(Paused{a.Reason})
	return nil
}

func (d *decision) resume(a Resume) error {
	if !d.in.Paused {
		return d.refuse(Invalid, []string{"pause"}, "not paused")
	}
	d.record(Resumed{a.Reason})
	d.dispatch()
	return nil
}

func (d *decision) retry(a Retry) error {
	switch {
	case d.in.Paused:
		return d.refuse(OnHold, []string{"resume"}, "paused: %s", d.in.Reason)
	case d.in.Owner == "":
		return d.refuse(Invalid, nil, "nobody works in %s: it waits for a signal", d.in.State)
	case d.in.Claim.Live(d.cmd.At):
		return d.refuse(Held, nil, "%s works on it until %s", d.in.Claim.Agent, stamp(d.in.Claim.Lease))
	}
	d.record(Dispatched{d.in.State, d.in.Owner, a.Reason})
	return nil
}

// dispatch wakes the owner, if the state has one and nothing stands in the way.
func (d *decision) dispatch() {
	if d.in.Kind == workflow.Work && !d.in.Paused && d.in.Closed == "" {
		d.record(Dispatched{State: d.in.State, Owner: d.in.Owner})
	}
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
