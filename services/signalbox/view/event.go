package view

import (
	"cmp"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/wire"
	"github.com/signalbox/signalbox/pkg/workflow"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Event is one line of `history --json`: one fact, with the time, actor and
// sequence of the commit it is part of. From and To are empty unless it moved
// the instance; State is where the instance was after it.
type Event struct {
	Seq      uint64    `json:"seq"`
	Time     time.Time `json:"time"`
	Instance string    `json:"instance"`
	Event    string    `json:"event"`
	From     string    `json:"from"`
	To       string    `json:"to"`
	Actor    string    `json:"actor"`
	Reason   string    `json:"reason"` // why, or what was said
	State    string    `json:"state"`
	Command  string    `json:"command,omitempty"` // id of the command that was decided

	Owner    string            `json:"owner,omitempty"` // moved, opened, dispatched: the role of the state
	Kind     string            `json:"kind,omitempty"`  // moved, opened: work, wait or final; noted: the note's
	Rule     string            `json:"rule,omitempty"`  // moved: what picked the state; gate_refused: the gate
	Failure  bool              `json:"failure,omitempty"`
	Loop     bool              `json:"loop,omitempty"`
	Override bool              `json:"override,omitempty"`
	Role     string            `json:"role,omitempty"` // claimed, reported
	Agent    string            `json:"agent,omitempty"`
	Token    uint64            `json:"token,omitempty"`
	Lease    time.Time         `json:"lease,omitzero"`
	Lapsed   string            `json:"lapsed,omitempty"` // claimed: whose lease ran out before
	Direct   bool              `json:"direct,omitempty"` // claimed: by who waited, with the commit that made the work
	Fault    bool              `json:"fault,omitempty"`  // released: an infrastructure fault
	Result   *instance.Result  `json:"result,omitempty"` // reported
	Wanted   []string          `json:"wanted,omitempty"` // the move that was refused
	Allowed  []string          `json:"allowed,omitempty"`
	Signal   string            `json:"signal,omitempty"`
	Ref      string            `json:"ref,omitempty"`
	Data     map[string]string `json:"data,omitempty"`
	Number   int               `json:"number,omitempty"` // of the question
	Spend    *Spend            `json:"spend,omitempty"`

	Cites    []string            `json:"cites,omitempty"`    // moved: the evidence the decision was made on
	Evidence []instance.Evidence `json:"evidence,omitempty"` // signalled: a snapshot of the world
	AskedOf  string              `json:"asked_of,omitempty"` // asked, dispatched: another role; empty: people
	Vars     map[string]string   `json:"vars,omitempty"`     // remembered
	Until    time.Time           `json:"until,omitzero"`     // parked
	Level    workflow.Level      `json:"level,omitempty"`    // timed_out: warning, alert or escalation
	After    string              `json:"after,omitempty"`    // timed_out: since the state was entered
	Linked   string              `json:"linked,omitempty"`   // spawned, link_ended: the other instance
	Human    bool                `json:"requires_human,omitempty"`
}

// History makes views of an instance's commits, oldest first and from the first on.
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

// Commits decodes an instance's commits.
func Commits(records []*pb.Record) []instance.Commit {
	commits := make([]instance.Commit, len(records))
	for i, r := range records {
		commits[i] = instance.Commit{Seq: r.GetSeq(), ID: r.GetId(), At: when(r.GetTime()), Actor: r.GetCommit().GetActor(), Events: wire.ToEvents(r.GetCommit())}
	}
	return commits
}

// Events makes views of one commit. State is where the instance was before it.
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

// fill takes what is the event's own.
func fill(v *Event, e instance.Event) {
	switch e := e.(type) {
	case instance.Opened:
		v.Event, v.To, v.Reason, v.Owner, v.Kind = "opened", e.State, e.Issue.Title, e.Owner, string(e.Kind)
	case instance.Claimed:
		v.Event, v.Role, v.Agent, v.Token, v.Lease, v.Lapsed, v.Direct = "claimed", e.Role, e.Agent, e.Token, e.Lease, e.Lapsed, e.Direct
		switch { // who was given it is not who committed it
		case e.Direct:
			v.Reason = "given directly to " + e.Agent
		case e.Lapsed != "":
			v.Reason = "the lease of " + e.Lapsed + " had run out"
		}
	case instance.LeaseExtended:
		v.Event, v.Token, v.Lease = "lease_extended", e.Token, e.Lease
	case instance.Released:
		v.Event, v.Token, v.Agent, v.Reason, v.Fault = "released", e.Token, e.Agent, e.Reason, e.Fault
	case instance.Reported:
		v.Event, v.Role, v.Agent, v.Token, v.Result = "reported", e.Role, e.Agent, e.Token, &e.Result
		v.Reason = strings.TrimSuffix(string(e.Result.Status)+": "+e.Result.Summary, ": ")
	case instance.ProposalRefused:
		v.Event, v.Wanted, v.Allowed = "proposal_refused", []string{e.Proposed}, e.Permitted
		v.Reason = e.Proposed + " is not permitted from " + e.From
	case instance.GateRefused:
		v.Event, v.Rule, v.Wanted, v.Allowed, v.Reason = "gate_refused", e.Gate, []string{e.Wanted}, []string{e.Instead}, e.Reason
	case instance.LoopDetected:
		v.Event, v.Loop, v.Reason = "loop_detected", true, e.Reason
	case instance.Moved:
		v.Event, v.From, v.To, v.Owner, v.Kind, v.Rule, v.Reason = "moved", e.From, e.To, e.Owner, string(e.Kind), e.Rule, e.Reason
		v.Failure, v.Loop, v.Override, v.Cites = e.Failure, e.Loop, e.Override, e.Cites
	case instance.Dispatched:
		v.Event, v.Owner, v.Reason, v.Number = "dispatched", e.Owner, cmp.Or(e.Reason, "work for "+e.Owner), e.Question
	case instance.Signalled:
		v.Event, v.Signal, v.Actor, v.Ref, v.Data, v.Reason = "signalled", e.Name, e.Actor, e.Ref, e.Data, strings.TrimSuffix(e.Name+": "+e.Data["body"], ": ")
		v.Evidence = e.Evidence
	case instance.Asked:
		v.Event, v.Number, v.Role, v.AskedOf, v.Reason = "asked", e.Number, e.From, e.To, e.Text
	case instance.Answered:
		v.Event, v.Number, v.Reason = "answered", e.Number, e.Text
		if e.By != "" {
			v.Actor = e.By
		}
	case instance.Noted:
		v.Event, v.Kind, v.Actor, v.Reason = "noted", e.Kind, e.Author, e.Text
	case instance.Spent:
		v.Event, v.Spend = "spent", &Spend{e.Spend.TokensIn, e.Spend.TokensOut, e.Spend.USD, e.Spend.WallMS}
	case instance.Paused:
		v.Event, v.Reason = "paused", e.Reason
	case instance.Resumed:
		v.Event, v.Reason = "resumed", e.Reason
	case instance.CancelledBy:
		v.Event, v.Reason = "cancelled", e.Reason
	default:
		fillMore(v, e)
	}
}
