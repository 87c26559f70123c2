package view

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/question"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// Event is one line of `history --json`: one event, with the time, actor and sequence
// of its commit. From and To are empty unless the event moved the instance. State is
// the state of the instance after the event.
type Event struct {
	Seq      uint64    `json:"seq"`
	Time     time.Time `json:"time"`
	Instance string    `json:"instance"`
	Event    string    `json:"event"`
	From     string    `json:"from"`
	To       string    `json:"to"`
	Actor    string    `json:"actor"`
	Reason   string    `json:"reason"` // the reason or the text of the event
	State    string    `json:"state"`
	Command  string    `json:"command,omitempty"` // id of the command that the commit decides

	Owner    string            `json:"owner,omitempty"` // moved, opened, dispatched: the role of the state
	Kind     string            `json:"kind,omitempty"`  // moved, opened: work, wait or final; noted: that of the note
	Rule     string            `json:"rule,omitempty"`  // moved: the rule that chose the state; gate_refused: the gate
	Failure  bool              `json:"failure,omitempty"`
	Loop     bool              `json:"loop,omitempty"`
	Override bool              `json:"override,omitempty"`
	Role     string            `json:"role,omitempty"` // claimed, reported
	Agent    string            `json:"agent,omitempty"`
	Token    uint64            `json:"token,omitempty"`
	Lease    time.Time         `json:"lease,omitzero"`
	Lapsed   string            `json:"lapsed,omitempty"` // claimed: the agent whose lease lapsed before
	Direct   bool              `json:"direct,omitempty"` // claimed: by a waiter, in the commit that made the work
	Fault    bool              `json:"fault,omitempty"`  // released: an infrastructure fault
	Result   *instance.Result  `json:"result,omitempty"` // reported
	Wanted   []string          `json:"wanted,omitempty"` // proposal_refused, gate_refused: the move
	Allowed  []string          `json:"allowed,omitempty"`
	Signal   string            `json:"signal,omitempty"`
	Ref      string            `json:"ref,omitempty"`
	Data     map[string]string `json:"data,omitempty"`
	Number   int               `json:"number,omitempty"` // of the question or escalation
	Spend    *Spend            `json:"spend,omitempty"`

	Cites     []string            `json:"cites,omitempty"`      // moved: the evidence that the decision cites
	Evidence  []instance.Evidence `json:"evidence,omitempty"`   // signalled: the evidence that came with it
	AskedOf   string              `json:"asked_of,omitempty"`   // asked: the other role; empty: people
	Form      *form               `json:"form,omitempty"`       // asked: of the answer; absent: any words
	ByDefault bool                `json:"by_default,omitempty"` // answered: nobody answered before the deadline
	Vars      map[string]string   `json:"vars,omitempty"`       // remembered
	Until     time.Time           `json:"until,omitzero"`       // parked, or released because of a fault with a known end
	Level     workflow.Level      `json:"level,omitempty"`      // timed_out: warning, alert or escalation
	After     string              `json:"after,omitempty"`      // timed_out: time since the state was entered
	Linked    string              `json:"linked,omitempty"`     // spawned, link_ended: the other instance
	Human     bool                `json:"requires_human,omitempty"`
}

// History returns the events of an instance. records are all of its commits, oldest
// first.
func History(id string, records []*pb.Record) []Event {
	state := ""
	events := []Event{}
	for _, c := range Commits(records) {
		events = append(events, Events(id, state, c)...)
		if n := len(events); n > 0 {
			state = events[n-1].State
		}
	}
	return events
}

// Commits decodes the commits of an instance.
func Commits(records []*pb.Record) []instance.Commit {
	commits := make([]instance.Commit, len(records))
	for i, r := range records {
		commits[i] = instance.Commit{Seq: r.GetSeq(), ID: r.GetId(), At: when(r.GetTime()), Actor: r.GetCommit().GetActor(),
			Events: wire.ToEvents(r.GetCommit())}
	}
	return commits
}

// Events returns the events of one commit. state is the state of the instance before
// it.
func Events(id, state string, c instance.Commit) []Event {
	events := make([]Event, len(c.Events))
	for i, e := range c.Events {
		v := Event{Seq: c.Seq, Time: c.At, Instance: id, Actor: c.Actor, Command: c.ID}
		fill(&v, e)
		if v.To != "" {
			state = v.To
		}
		v.State = state
		events[i] = v
	}
	return events
}

// unknown is the name of an event that fill has no case for.
const unknown = "unknown"

// fill sets the fields that depend on the event's type. A test checks that it has a
// case for every event.
func fill(v *Event, e instance.Event) {
	switch e := e.(type) {
	case instance.Opened:
		v.Event = "opened"
		v.To = e.State
		v.Reason = e.Issue.Title
		v.Owner = e.Owner
		v.Kind = string(e.Kind)
	case instance.Claimed:
		v.Event = "claimed"
		v.Role = e.Role
		v.Agent = e.Agent
		v.Token = e.Token
		v.Lease = e.Lease
		v.Lapsed = e.Lapsed
		v.Direct = e.Direct
		switch { // the commit is that of another agent
		case e.Direct:
			v.Reason = "given directly to " + e.Agent
		case e.Lapsed != "":
			v.Reason = "the lease of " + e.Lapsed + " had run out"
		}
	case instance.LeaseExtended:
		v.Event, v.Token, v.Lease = "lease_extended", e.Token, e.Lease
	case instance.Released:
		v.Event = "released"
		v.Token = e.Token
		v.Agent = e.Agent
		v.Reason = e.Reason
		v.Fault, v.Until = e.Fault, e.Until
	case instance.Reported:
		v.Event = "reported"
		v.Role = e.Role
		v.Agent = e.Agent
		v.Token = e.Token
		v.Result = &e.Result
		v.Reason = strings.TrimSuffix(string(e.Result.Status)+": "+e.Result.Summary, ": ")
	case instance.ProposalRefused:
		v.Event, v.Wanted, v.Allowed = "proposal_refused", []string{e.Proposed}, e.Permitted
		v.Reason = e.Proposed + " is not permitted from " + e.From
	case instance.StatementRefused:
		v.Event, v.Role, v.Agent, v.Allowed = "statement_refused", e.Role, e.Agent, e.Permitted
		v.Reason = e.Sentence()
	case instance.GateRefused:
		v.Event = "gate_refused"
		v.Rule = e.Gate
		v.Wanted = []string{e.Wanted}
		v.Allowed = []string{e.Instead}
		v.Reason = e.Reason
	case instance.LoopDetected:
		v.Event, v.Loop, v.Reason = "loop_detected", true, e.Reason
	case instance.Moved:
		v.Event = "moved"
		v.From = e.From
		v.To = e.To
		v.Owner = e.Owner
		v.Kind = string(e.Kind)
		v.Rule = e.Rule
		v.Reason = e.Reason
		v.Failure = e.Failure
		v.Loop = e.Loop
		v.Override = e.Override
		v.Cites = e.Cites
	case instance.Dispatched:
		v.Event = "dispatched"
		v.Owner = e.Owner
		v.Reason = cmp.Or(e.Reason, "work for "+e.Owner)
		v.Number = e.Question
	case instance.Signalled:
		v.Event = "signalled"
		v.Signal = e.Name
		v.Actor = e.Actor
		v.Ref = e.Ref
		v.Data = e.Data
		v.Reason = strings.TrimSuffix(e.Name+": "+e.Data["body"], ": ")
		v.Evidence = e.Evidence
	case instance.Asked:
		v.Event = "asked"
		v.Number = e.Number
		v.Role = e.From
		v.AskedOf = e.To
		v.Reason = e.Text
		if len(FormLines(instance.Question{Form: e.Form, Deadline: e.Deadline})) > 0 {
			v.Form = &form{e.Form, e.Deadline}
		}
	case instance.Answered:
		v.Event, v.Number, v.Reason = "answered", e.Number, e.Text
		v.ByDefault = e.ByDefault
		if e.By != "" {
			v.Actor = e.By
		}
	case instance.Noted:
		v.Event = "noted"
		v.Kind = e.Kind
		v.Actor = e.Author
		v.Reason = noteText(e)
	case instance.Spent:
		v.Event, v.Spend = "spent", &Spend{e.Spend.TokensIn, e.Spend.TokensOut, e.Spend.USD, e.Spend.WallMS}
	case instance.Paused:
		v.Event, v.Reason = "paused", e.Reason
	case instance.Reopened:
		v.Event, v.Reason = "reopened", e.Reason
	case instance.Resumed:
		v.Event, v.Reason = "resumed", e.Reason
	case instance.CancelledBy:
		v.Event, v.Reason = "cancelled", e.Reason
	case instance.Handed:
		v.Event, v.Reason = "handed", handed(e)
	case instance.Escalated:
		v.Event = "escalated"
		v.Number = e.Number
		v.Role = e.Agent
		v.Reason = e.Reason
		v.Human = e.RequiresHuman
	case instance.DayRaised:
		v.Event, v.Reason = "day_raised", e.Budget+" by "+RaisedDay(e.USD, e.Tokens, e.WallMS)
	case instance.BudgetRaised:
		v.Event, v.Reason = "budget_raised", "by "+Raised(e.USD, e.Tokens)
		if e.By != "" {
			v.Actor = e.By
		}
	case instance.Resolved:
		v.Event, v.Number, v.Reason = "resolved", e.Number, e.Text
		if e.By != "" {
			v.Actor = e.By
		}
	case instance.Remembered:
		v.Event, v.Vars = "remembered", e.Vars
		var assigned []string
		for _, name := range slices.Sorted(maps.Keys(e.Vars)) {
			assigned = append(assigned, fmt.Sprintf("%s is %q", name, e.Vars[name]))
		}
		v.Reason = strings.Join(assigned, ", ")
	case instance.ParkedUntil:
		v.Event, v.Until, v.Reason = "parked", e.Until, e.Reason
	case instance.Woken:
		v.Event, v.Reason = "woken", e.Reason
	case instance.TimedOut:
		v.Event, v.Level, v.After = "timed_out", e.Level, e.After.String()
		v.Reason = fmt.Sprintf("%s: %s in %s", e.Level, term.Duration(e.After), e.State)
	case instance.Spawned:
		v.Event, v.Linked, v.Reason = "spawned", e.Instance, strings.TrimSuffix(e.Workflow+" "+e.Instance+": "+e.Reason, ": ")
	case instance.LinkEnded:
		how := "did not end well"
		if e.Well {
			how = "ended well"
		}
		v.Event, v.Linked, v.Reason = "link_ended", e.Instance, fmt.Sprintf("%s %s, in %s", e.Instance, how, e.State)
	case instance.Migrated:
		v.Event = "migrated"
		v.Owner = e.Owner
		v.Kind = string(e.Kind)
		v.Reason = fmt.Sprintf("from definition %.8s to %.8s: %s", e.From, e.Definition, e.Reason)
	default:
		v.Event = unknown
	}
}

// handed describes what a role has handed over.
func handed(e instance.Handed) string {
	var parts []string
	if e.Head != "" {
		parts = append(parts, "the work is at "+e.Head)
	}
	if len(e.Sections) > 0 {
		parts = append(parts, "written is "+strings.Join(slices.Sorted(maps.Keys(e.Sections)), ", "))
	}
	return strings.Join(parts, ", ")
}

// noteText is what a note says. One about learnings names them.
func noteText(e instance.Noted) string {
	if e.Learning == nil {
		return e.Text
	}
	text := []string{strings.Join(e.Learning.IDs, " ")}
	if e.Text != "" {
		text = []string{e.Learning.Path, e.Text}
	}
	if at := e.Learning.Instance; at != "" {
		text = append([]string{"in " + at}, text...)
	}
	text = slices.DeleteFunc(append([]string{e.Kind}, text...), func(s string) bool { return s == "" })
	return strings.Join(text, ": ")
}

// form is the form of an answer of people.
type form struct {
	question.Form
	Deadline time.Time `json:"deadline,omitzero"`
}
