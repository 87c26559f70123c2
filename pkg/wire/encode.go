package wire

import (
	"github.com/signalbox/signalbox/pkg/instance"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

func event(e instance.Event) *pb.Event {
	switch e := e.(type) {
	case instance.Opened:
		return &pb.Event{Event: &pb.Event_Opened{Opened: &pb.Opened{Workflow: e.Workflow, Definition: e.Definition, Issue: Issue(e.Issue),
			Base: e.Base, Bundle: e.Bundle, State: e.State, Owner: e.Owner, Kind: string(e.Kind), Timeout: span(e.Timeout),
			Vars: e.Vars, After: e.After, Parent: e.Parent, Bundles: each(e.Bundles, bundle)}}}
	case instance.Claimed:
		return &pb.Event{Event: &pb.Event_Claimed{Claimed: &pb.Claimed{Token: u32(e.Token), Role: e.Role, Agent: e.Agent, Lease: stamp(e.Lease), Lapsed: e.Lapsed, Direct: e.Direct}}}
	case instance.LeaseExtended:
		return &pb.Event{Event: &pb.Event_LeaseExtended{LeaseExtended: &pb.LeaseExtended{Token: u32(e.Token), Lease: stamp(e.Lease)}}}
	case instance.Released:
		return &pb.Event{Event: &pb.Event_Released{Released: &pb.Released{Token: u32(e.Token), Agent: e.Agent, Reason: e.Reason, Fault: e.Fault}}}
	case instance.Reported:
		return &pb.Event{Event: &pb.Event_Reported{Reported: &pb.Reported{Token: u32(e.Token), Role: e.Role, Agent: e.Agent, State: e.State, Result: Result(e.Result), Question: i32(e.Question)}}}
	case instance.ProposalRefused:
		return &pb.Event{Event: &pb.Event_ProposalRefused{ProposalRefused: &pb.ProposalRefused{From: e.From, Proposed: e.Proposed, Permitted: e.Permitted}}}
	case instance.GateRefused:
		return &pb.Event{Event: &pb.Event_GateRefused{GateRefused: &pb.GateRefused{Gate: e.Gate, Wanted: e.Wanted, Instead: e.Instead, Reason: e.Reason}}}
	case instance.LoopDetected:
		return &pb.Event{Event: &pb.Event_LoopDetected{LoopDetected: &pb.LoopDetected{States: e.States, Reason: e.Reason}}}
	case instance.Moved:
		return &pb.Event{Event: &pb.Event_Moved{Moved: &pb.Moved{From: e.From, To: e.To, Owner: e.Owner, Kind: string(e.Kind), Rule: e.Rule, Reason: e.Reason,
			Failure: e.Failure, Loop: e.Loop, Override: e.Override, Timeout: span(e.Timeout), Keeps: e.KeepsClaim, Fresh: e.ResetsFailures, Cites: e.Cites}}}
	case instance.Dispatched:
		return &pb.Event{Event: &pb.Event_Dispatched{Dispatched: &pb.Dispatched{State: e.State, Owner: e.Owner, Reason: e.Reason, Question: i32(e.Question)}}}
	case instance.Signalled:
		return &pb.Event{Event: &pb.Event_Signalled{Signalled: &pb.Signalled{Name: e.Name, Actor: e.Actor, Ref: e.Ref, Data: e.Data, Evidence: each(e.Evidence, evidence)}}}
	case instance.Asked:
		return &pb.Event{Event: &pb.Event_Asked{Asked: &pb.Asked{Number: i32(e.Number), From: e.From, Text: e.Text, To: e.To}}}
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
	return rare(e)
}

// rare is event for those that not every lifecycle has.
func rare(e instance.Event) *pb.Event {
	switch e := e.(type) {
	case instance.Handed:
		return &pb.Event{Event: &pb.Event_Handed{Handed: &pb.Handed{Head: e.Head, Bundle: e.Bundle, Sections: e.Sections}}}
	case instance.Escalated:
		return &pb.Event{Event: &pb.Event_Escalated{Escalated: &pb.Escalated{Number: i32(e.Number), Agent: e.Agent, Reason: e.Reason, RequiresHuman: e.RequiresHuman}}}
	case instance.Resolved:
		return &pb.Event{Event: &pb.Event_Resolved{Resolved: &pb.Resolved{Number: i32(e.Number), Text: e.Text, By: e.By}}}
	case instance.Remembered:
		return &pb.Event{Event: &pb.Event_Remembered{Remembered: &pb.Remembered{Vars: e.Vars}}}
	case instance.ParkedUntil:
		return &pb.Event{Event: &pb.Event_ParkedUntil{ParkedUntil: &pb.ParkedUntil{State: e.State, Until: stamp(e.Until), Reason: e.Reason, Standing: e.Standing}}}
	case instance.Woken:
		return &pb.Event{Event: &pb.Event_Woken{Woken: &pb.Woken{Reason: e.Reason}}}
	case instance.TimedOut:
		return &pb.Event{Event: &pb.Event_TimedOut{TimedOut: &pb.TimedOut{State: e.State, Level: string(e.Level), After: span(e.After)}}}
	case instance.Spawned:
		return &pb.Event{Event: &pb.Event_Spawned{Spawned: &pb.Spawned{Instance: e.Instance, Workflow: e.Workflow, State: e.State, Reason: e.Reason}}}
	case instance.LinkEnded:
		return &pb.Event{Event: &pb.Event_LinkEnded{LinkEnded: &pb.LinkEnded{Instance: e.Instance, State: e.State, Well: e.Well}}}
	case instance.Migrated:
		return &pb.Event{Event: &pb.Event_Migrated{Migrated: &pb.Migrated{From: e.From, Definition: e.Definition, Owner: e.Owner, Kind: string(e.Kind),
			Timeout: span(e.Timeout), Reason: e.Reason}}}
	}
	return &pb.Event{}
}
