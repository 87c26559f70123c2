package instance

import (
	"errors"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/question"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// ErrNoCommand means that no command records the events of a commit: a newer build wrote it,
// or no build did.
var ErrNoCommand = errors.New("no command records these events")

// Decider decides the commits of whole logs once more, one after another in the same memory. It is
// not safe for concurrent use.
type Decider struct{ d decision }

// Redecide decides a commit of the log once more. in is the instance before the commit. The
// events are those of the commit, if def is the definition that it was decided under and the
// rules of Decide have not changed since. The error is a *Refusal, or ErrNoCommand.
func (r *Decider) Redecide(def *workflow.Definition, in Instance, c Commit) ([]Event, error) {
	cmd, ok := Recorded(in, c)
	if !ok {
		return nil, ErrNoCommand
	}
	claim, direct := directClaim(c)
	r.d = decision{def: def, in: in, cmd: cmd}
	events, _, err := r.d.decideAndClaim(func(string) (Claim, bool) { return claim, direct })
	return events, err
}

// directClaim returns the claim of the waiting agent that got the work of the commit.
func directClaim(c Commit) (Claim, bool) {
	if len(c.Events) < 2 {
		return Claim{}, false
	}
	for _, e := range c.Events[1:] {
		if e, ok := e.(Claimed); ok && e.Direct {
			return Claim{Role: e.Role, Agent: e.Agent, Lease: e.Lease.Sub(c.At), Program: e.Program}, true
		}
	}
	return Claim{}, false
}

// Recorded returns the command that recorded a commit. in is the instance before it. A result
// and a signal have the statements that were admitted, and not those that were refused. ok is
// false of events that no command records.
func Recorded(in Instance, c Commit) (cmd Command, ok bool) {
	r := recorded{in: &in, at: c.At, events: c.Events}
	do := r.action()
	return Command{ID: c.ID, Instance: in.ID, At: c.At, Actor: c.Actor, Do: do}, do != nil
}

// recorded is a commit whose command is looked for.
type recorded struct {
	in     *Instance
	at     time.Time
	events []Event
}

// action returns the action by the first event, or nil.
func (r recorded) action() Action {
	if len(r.events) == 0 {
		return nil
	}
	switch e := r.events[0].(type) {
	case Opened:
		return Open{Issue: e.Issue, Base: e.Base, Bundle: e.Bundle, State: e.State, Vars: e.Vars, After: e.After, Parent: e.Parent, Bundles: e.Bundles}
	case Claimed:
		return Claim{Role: e.Role, Agent: e.Agent, Work: r.in.Work, Lease: e.Lease.Sub(r.at), Program: e.Program}
	case LeaseExtended:
		if e.Lapsed {
			return Prolong{e.Token, e.Lease.Sub(r.at)}
		}
		return Heartbeat{e.Token, e.Lease.Sub(r.at)}
	case Reported:
		return Report{e.Token, e.Result}
	case Spent:
		return Spend{r.token(), e.Spend}
	case Asked:
		form := question.Wanted{Form: e.Form}
		if !e.Deadline.IsZero() {
			form.Within = e.Deadline.Sub(r.at)
		}
		return Ask{r.token(), e.Text, form}
	case Answered:
		return r.answers(e)
	case Signalled:
		return Signal{e.Name, e.Ref, e.Data, e.Evidence}
	case TimedOut:
		return Expire{r.in.Entered, e.Level}
	case LinkEnded:
		return End{e.Instance, e.State, e.Well}
	case Noted:
		return Note{e.Kind, e.Text, e.Learning}
	case Paused:
		return Pause{e.Reason}
	case Resumed:
		return Resume{e.Reason}
	case CancelledBy:
		return Cancel{e.Reason}
	case Migrated:
		return Migrate{e.Reason}
	case BudgetRaised:
		return RaiseBudget{e.USD, e.Tokens}
	case DayRaised:
		return RaiseDay{r.budgets(), e.USD, e.Tokens, e.WallMS}
	case Reopened:
		to, _ := first[Moved](r.events)
		return Reopen{to.To, e.Reason}
	case Resolved:
		return r.decision(e)
	case Handed, Released, Escalated, StatementRefused:
		if do := r.handing(); do != nil {
			return do
		}
	case Dispatched:
		return r.dispatch(e)
	case ParkedUntil:
		if e.WaitsFor != "" {
			return Hold{r.in.Work, e.WaitsFor, e.Until, strings.TrimPrefix(e.Reason, placeReason)}
		}
	case Moved:
		if e.Override {
			return Override{e.To, e.Reason}
		}
	}
	return r.wake()
}

// first returns the first event of a type.
func first[E Event](events []Event) (e E, ok bool) {
	for _, one := range events {
		if e, ok = one.(E); ok {
			return e, true
		}
	}
	return e, false
}

// token returns that of the claim.
func (r recorded) token() uint64 {
	if r.in.Claim == nil {
		return 0
	}
	return r.in.Claim.Token
}

// answers returns the action of a commit that begins with an answer of people, or with a default.
func (r recorded) answers(first Answered) Action {
	if first.ByDefault {
		return TakeDefaults{}
	}
	a := Answer{Number: first.Number, Text: first.Text}
	for _, e := range r.events[1:] {
		if e, ok := e.(Answered); ok {
			a.More = append(a.More, QuestionAnswer{Question: e.Number, Text: e.Text})
		}
	}
	return a
}

func (r recorded) budgets() (names []string) {
	for _, e := range r.events {
		if e, ok := e.(DayRaised); ok {
			names = append(names, e.Budget)
		}
	}
	return names
}

// decision returns the action of a commit that begins with the end of an escalation.
func (r recorded) decision(e Resolved) Action {
	if to, ok := first[Moved](r.events); ok && to.Rule == "override" {
		return Override{to.To, to.Reason}
	}
	return Resolve{e.Number, e.Text}
}

// handing returns the action by which an agent hands in unfinished work, or nil. An always rule
// that asks people acts under no live claim.
func (r recorded) handing() Action {
	if !r.in.Claim.Live(r.at) {
		return nil
	}
	handed, _ := first[Handed](r.events)
	released, ends := first[Released](r.events)
	escalated, asksPeople := first[Escalated](r.events)
	asked, asks := first[Asked](r.events)
	switch {
	case asksPeople && (!ends || released.Reason == escalates):
		return Escalate{r.token(), escalated.Reason, escalated.RequiresHuman, handed.Head, handed.Bundle, handed.Sections, handed.Artifacts}
	case !ends:
		return nil
	case asks && released.Reason == asksRole+asked.To:
		return Inquire{released.Token, r.inquiries(), handed.Head, handed.Bundle, handed.Sections}
	case released.Fault:
		return Fail{released.Token, released.Reason, released.Until}
	}
	return Release{released.Token, released.Reason, handed.Head, handed.Bundle, handed.Sections, handed.Artifacts}
}

func (r recorded) inquiries() (all []Inquiry) {
	for _, e := range r.events {
		if e, ok := e.(Asked); ok {
			all = append(all, Inquiry{e.To, e.Text, e.RunOnly})
		}
	}
	return all
}

// dispatch returns the action of a commit that begins with a dispatch.
func (r recorded) dispatch(e Dispatched) Action {
	if r.in.WaitsFor() != "" && e.Reason == placeFree+string(r.in.WaitsFor()) {
		return Admit{r.in.Work}
	}
	if r.in.Direct && (e.Reason == givenBack || r.in.Claim != nil && e.Reason == ranOut(r.in.Claim.Agent)) {
		return Lapse{r.in.Work}
	}
	if wake := r.wake(); wake != nil && e.Reason == "" {
		return wake
	}
	return Retry{e.Reason}
}

// wake returns the end of a park whose time has come, or nil.
func (r recorded) wake() Action {
	p := r.in.Parked
	if p == nil || p.Until.IsZero() || r.at.Before(p.Until) {
		return nil
	}
	return Wake{p.Until}
}
