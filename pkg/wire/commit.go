package wire

import (
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalbox/signalbox/pkg/eventstore"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/workflow"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Events encodes the body of a commit. What cannot be read back is an error: an
// event without a wire form, text that is not UTF-8.
func Events(actor string, events []instance.Event) ([]byte, error) {
	p := &pb.Commit{Actor: actor, Events: each(events, event)}
	for i, e := range p.Events {
		if e.Event == nil {
			return nil, fmt.Errorf("%T has no wire form", events[i])
		}
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(p)
}

// ToCommit decodes a stored commit. Events this build does not know are left out.
func ToCommit(c eventstore.Commit) (instance.Commit, error) {
	p := new(pb.Commit)
	if err := proto.Unmarshal(c.Data, p); err != nil {
		return instance.Commit{}, fmt.Errorf("%w: commit %d of %s: %w", eventstore.ErrCorrupt, c.Seq, c.Instance, err)
	}
	out := instance.Commit{Seq: c.Seq, ID: c.ID, At: c.Time, Actor: p.GetActor()}
	for _, e := range p.GetEvents() {
		if ev := toEvent(e); ev != nil {
			out.Events = append(out.Events, ev)
		}
	}
	return out, nil
}

// Record encodes a stored commit for a reader of the log.
func Record(c eventstore.Commit) (*pb.Record, error) {
	p := new(pb.Commit)
	if err := proto.Unmarshal(c.Data, p); err != nil {
		return nil, fmt.Errorf("%w: commit %d of %s: %w", eventstore.ErrCorrupt, c.Seq, c.Instance, err)
	}
	return &pb.Record{Seq: c.Seq, Prev: c.Prev, Id: c.ID, Time: stamp(c.Time), Workflow: c.Workflow, State: c.State, Commit: p, Chain: c.Chain}, nil
}

// ToEvents decodes the events of a record.
func ToEvents(p *pb.Commit) []instance.Event {
	var out []instance.Event
	for _, e := range p.GetEvents() {
		if ev := toEvent(e); ev != nil {
			out = append(out, ev)
		}
	}
	return out
}

func event(e instance.Event) *pb.Event {
	switch e := e.(type) {
	case instance.Opened:
		return &pb.Event{Event: &pb.Event_Opened{Opened: &pb.Opened{Workflow: e.Workflow, Definition: e.Definition, Issue: Issue(e.Issue),
			Base: e.Base, Bundle: e.Bundle, State: e.State, Owner: e.Owner, Kind: string(e.Kind)}}}
	case instance.Claimed:
		return &pb.Event{Event: &pb.Event_Claimed{Claimed: &pb.Claimed{Token: u32(e.Token), Role: e.Role, Agent: e.Agent, Lease: stamp(e.Lease), Lapsed: e.Lapsed}}}
	case instance.LeaseExtended:
		return &pb.Event{Event: &pb.Event_LeaseExtended{LeaseExtended: &pb.LeaseExtended{Token: u32(e.Token), Lease: stamp(e.Lease)}}}
	case instance.Released:
		return &pb.Event{Event: &pb.Event_Released{Released: &pb.Released{Token: u32(e.Token), Agent: e.Agent, Reason: e.Reason, Fault: e.Fault}}}
	case instance.Reported:
		return &pb.Event{Event: &pb.Event_Reported{Reported: &pb.Reported{Token: u32(e.Token), Role: e.Role, Agent: e.Agent, State: e.State, Result: Result(e.Result)}}}
	case instance.ProposalRefused:
		return &pb.Event{Event: &pb.Event_ProposalRefused{ProposalRefused: &pb.ProposalRefused{From: e.From, Proposed: e.Proposed, Permitted: e.Permitted}}}
	case instance.GateRefused:
		return &pb.Event{Event: &pb.Event_GateRefused{GateRefused: &pb.GateRefused{Gate: e.Gate, Wanted: e.Wanted, Instead: e.Instead, Reason: e.Reason}}}
	case instance.LoopDetected:
		return &pb.Event{Event: &pb.Event_LoopDetected{LoopDetected: &pb.LoopDetected{States: e.States, Reason: e.Reason}}}
	case instance.Moved:
		return &pb.Event{Event: &pb.Event_Moved{Moved: &pb.Moved{From: e.From, To: e.To, Owner: e.Owner, Kind: string(e.Kind), Rule: e.Rule, Reason: e.Reason,
			Failure: e.Failure, Loop: e.Loop, Override: e.Override}}}
	case instance.Dispatched:
		return &pb.Event{Event: &pb.Event_Dispatched{Dispatched: &pb.Dispatched{State: e.State, Owner: e.Owner, Reason: e.Reason}}}
	case instance.Signalled:
		return &pb.Event{Event: &pb.Event_Signalled{Signalled: &pb.Signalled{Name: e.Name, Actor: e.Actor, Ref: e.Ref, Data: e.Data}}}
	case instance.Asked:
		return &pb.Event{Event: &pb.Event_Asked{Asked: &pb.Asked{Number: i32(e.Number), From: e.From, Text: e.Text}}}
	case instance.Answered:
		return &pb.Event{Event: &pb.Event_Answered{Answered: &pb.Answered{Number: i32(e.Number), Text: e.Text, By: e.By}}}
	case instance.Noted:
		return &pb.Event{Event: &pb.Event_Noted{Noted: &pb.Noted{Author: e.Author, Kind: e.Kind, Text: e.Text}}}
	case instance.Spent:
		return &pb.Event{Event: &pb.Event_Spent{Spent: &pb.Spent{Spend: spend(e.Spend)}}}
	case instance.Paused:
		return &pb.Event{Event: &pb.Event_Paused{Paused: &pb.Paused{Reason: e.Reason}}}
	case instance.Resumed:
		return &pb.Event{Event: &pb.Event_Resumed{Resumed: &pb.Resumed{Reason: e.Reason}}}
	case instance.CancelledBy:
		return &pb.Event{Event: &pb.Event_Cancelled{Cancelled: &pb.Cancelled{Reason: e.Reason}}}
	}
	return &pb.Event{}
}

func toEvent(p *pb.Event) instance.Event {
	switch e := p.GetEvent().(type) {
	case *pb.Event_Opened:
		o := e.Opened
		return instance.Opened{Workflow: o.GetWorkflow(), Definition: o.GetDefinition(), Issue: ToIssue(o.GetIssue()), Base: o.GetBase(),
			Bundle: o.GetBundle(), State: o.GetState(), Owner: o.GetOwner(), Kind: workflow.Kind(o.GetKind())}
	case *pb.Event_Claimed:
		return instance.Claimed{Token: uint64(e.Claimed.GetToken()), Role: e.Claimed.GetRole(), Agent: e.Claimed.GetAgent(), Lease: toTime(e.Claimed.GetLease()), Lapsed: e.Claimed.GetLapsed()}
	case *pb.Event_LeaseExtended:
		return instance.LeaseExtended{Token: uint64(e.LeaseExtended.GetToken()), Lease: toTime(e.LeaseExtended.GetLease())}
	case *pb.Event_Released:
		return instance.Released{Token: uint64(e.Released.GetToken()), Agent: e.Released.GetAgent(), Reason: e.Released.GetReason(), Fault: e.Released.GetFault()}
	case *pb.Event_Reported:
		r := e.Reported
		return instance.Reported{Token: uint64(r.GetToken()), Role: r.GetRole(), Agent: r.GetAgent(), State: r.GetState(), Result: ToResult(r.GetResult())}
	case *pb.Event_ProposalRefused:
		return instance.ProposalRefused{From: e.ProposalRefused.GetFrom(), Proposed: e.ProposalRefused.GetProposed(), Permitted: e.ProposalRefused.GetPermitted()}
	case *pb.Event_GateRefused:
		g := e.GateRefused
		return instance.GateRefused{Gate: g.GetGate(), Wanted: g.GetWanted(), Instead: g.GetInstead(), Reason: g.GetReason()}
	case *pb.Event_LoopDetected:
		return instance.LoopDetected{States: e.LoopDetected.GetStates(), Reason: e.LoopDetected.GetReason()}
	case *pb.Event_Moved:
		m := e.Moved
		return instance.Moved{From: m.GetFrom(), To: m.GetTo(), Owner: m.GetOwner(), Kind: workflow.Kind(m.GetKind()), Rule: m.GetRule(), Reason: m.GetReason(),
			Failure: m.GetFailure(), Loop: m.GetLoop(), Override: m.GetOverride()}
	case *pb.Event_Dispatched:
		return instance.Dispatched{State: e.Dispatched.GetState(), Owner: e.Dispatched.GetOwner(), Reason: e.Dispatched.GetReason()}
	case *pb.Event_Signalled:
		s := e.Signalled
		return instance.Signalled{Name: s.GetName(), Actor: s.GetActor(), Ref: s.GetRef(), Data: s.GetData()}
	case *pb.Event_Asked:
		return instance.Asked{Number: int(e.Asked.GetNumber()), From: e.Asked.GetFrom(), Text: e.Asked.GetText()}
	case *pb.Event_Answered:
		return instance.Answered{Number: int(e.Answered.GetNumber()), Text: e.Answered.GetText(), By: e.Answered.GetBy()}
	case *pb.Event_Noted:
		return instance.Noted{Author: e.Noted.GetAuthor(), Kind: e.Noted.GetKind(), Text: e.Noted.GetText()}
	case *pb.Event_Spent:
		return instance.Spent{Spend: toSpend(e.Spent.GetSpend())}
	case *pb.Event_Paused:
		return instance.Paused{Reason: e.Paused.GetReason()}
	case *pb.Event_Resumed:
		return instance.Resumed{Reason: e.Resumed.GetReason()}
	case *pb.Event_Cancelled:
		return instance.CancelledBy{Reason: e.Cancelled.GetReason()}
	}
	return nil
}

func stamp(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}

func toTime(p *timestamppb.Timestamp) time.Time {
	if p == nil {
		return time.Time{}
	}
	return p.AsTime()
}
