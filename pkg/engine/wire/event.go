package wire

import (
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// The two functions below are the only mapping between the events of the core and those of
// the wire. A new field of an event is a line in each.

// event encodes an event; one that has no wire form becomes an empty message.
func event(e instance.Event) *pb.Event {
	switch e := e.(type) {
	case instance.Opened:
		return &pb.Event{Event: &pb.Event_Opened{Opened: &pb.Opened{
			Workflow: e.Workflow, Definition: e.Definition, Issue: Issue(e.Issue), Base: e.Base, Bundle: e.Bundle,
			State: e.State, Owner: e.Owner, Kind: string(e.Kind), Timeout: span(e.Timeout), Vars: e.Vars, After: e.After,
			Parent: e.Parent, Bundles: each(e.Bundles, bundle)}}}
	case instance.Claimed:
		return &pb.Event{Event: &pb.Event_Claimed{Claimed: &pb.Claimed{
			Token: u32(e.Token), Role: e.Role, Agent: e.Agent, Lease: stamp(e.Lease), Lapsed: e.Lapsed, Direct: e.Direct, Program: e.Program}}}
	case instance.LeaseExtended:
		return &pb.Event{Event: &pb.Event_LeaseExtended{LeaseExtended: &pb.LeaseExtended{Token: u32(e.Token), Lease: stamp(e.Lease), Lapsed: e.Lapsed}}}
	case instance.Released:
		return &pb.Event{Event: &pb.Event_Released{Released: &pb.Released{
			Token: u32(e.Token), Agent: e.Agent, Reason: e.Reason, Fault: e.Fault, Until: stamp(e.Until)}}}
	case instance.Reported:
		return &pb.Event{Event: &pb.Event_Reported{Reported: &pb.Reported{
			Token: u32(e.Token), Role: e.Role, Agent: e.Agent, State: e.State, Result: Result(e.Result), Question: i32(e.Question)}}}
	case instance.ProposalRefused:
		return &pb.Event{Event: &pb.Event_ProposalRefused{ProposalRefused: &pb.ProposalRefused{
			From: e.From, Proposed: e.Proposed, Permitted: e.Permitted}}}
	case instance.StatementRefused:
		return &pb.Event{Event: &pb.Event_StatementRefused{StatementRefused: &pb.StatementRefused{
			What: e.What, Name: e.Name, Role: e.Role, Agent: e.Agent, Said: e.Said, Permitted: e.Permitted}}}
	case instance.GateRefused:
		return &pb.Event{Event: &pb.Event_GateRefused{GateRefused: &pb.GateRefused{
			Gate: e.Gate, Wanted: e.Wanted, Instead: e.Instead, Reason: e.Reason}}}
	case instance.LoopDetected:
		return &pb.Event{Event: &pb.Event_LoopDetected{LoopDetected: &pb.LoopDetected{States: e.States, Reason: e.Reason}}}
	case instance.Moved:
		return &pb.Event{Event: &pb.Event_Moved{Moved: &pb.Moved{
			From: e.From, To: e.To, Owner: e.Owner, Kind: string(e.Kind), Rule: e.Rule, Reason: e.Reason, Failure: e.Failure, Loop: e.Loop,
			Override: e.Override, Timeout: span(e.Timeout), Keeps: e.KeepsClaim, Fresh: e.ResetsFailures, Cites: e.Cites, Resumes: e.Resumes}}}
	case instance.Dispatched:
		return &pb.Event{Event: &pb.Event_Dispatched{Dispatched: &pb.Dispatched{
			State: e.State, Owner: e.Owner, Reason: e.Reason, Question: i32(e.Question)}}}
	case instance.Signalled:
		return &pb.Event{Event: &pb.Event_Signalled{Signalled: &pb.Signalled{
			Name: e.Name, Actor: e.Actor, Ref: e.Ref, Data: e.Data, Evidence: each(e.Evidence, evidence)}}}
	case instance.Asked:
		return &pb.Event{Event: &pb.Event_Asked{Asked: &pb.Asked{Number: i32(e.Number), From: e.From, Text: e.Text, To: e.To, RunOnly: e.RunOnly,
			Form: form(e.Form), Deadline: stamp(e.Deadline)}}}
	case instance.Answered:
		return &pb.Event{Event: &pb.Event_Answered{Answered: &pb.Answered{Number: i32(e.Number), Text: e.Text, By: e.By, ByDefault: e.ByDefault}}}
	case instance.Noted:
		return &pb.Event{Event: &pb.Event_Noted{Noted: &pb.Noted{Author: e.Author, Kind: e.Kind, Text: e.Text, Learning: learningOf(e.Learning)}}}
	case instance.Spent:
		return &pb.Event{Event: &pb.Event_Spent{Spent: &pb.Spent{Spend: spend(e.Spend)}}}
	case instance.BudgetRaised:
		return &pb.Event{Event: &pb.Event_BudgetRaised{BudgetRaised: &pb.BudgetRaised{Usd: e.USD, Tokens: uint64(max(e.Tokens, 0)), By: e.By}}}
	case instance.DayRaised:
		return &pb.Event{Event: &pb.Event_DayRaised{DayRaised: &pb.DayRaised{Budget: e.Budget, Usd: e.USD, Tokens: uint64(max(e.Tokens, 0)),
			WallMs: uint64(max(e.WallMS, 0)), By: e.By}}}
	case instance.Paused:
		return &pb.Event{Event: &pb.Event_Paused{Paused: &pb.Paused{Reason: e.Reason}}}
	case instance.Reopened:
		return &pb.Event{Event: &pb.Event_Reopened{Reopened: &pb.Reopened{Reason: e.Reason}}}
	case instance.Resumed:
		return &pb.Event{Event: &pb.Event_Resumed{Resumed: &pb.Resumed{Reason: e.Reason}}}
	case instance.CancelledBy:
		return &pb.Event{Event: &pb.Event_Cancelled{Cancelled: &pb.Cancelled{Reason: e.Reason}}}
	case instance.Handed:
		return &pb.Event{Event: &pb.Event_Handed{Handed: &pb.Handed{Head: e.Head, Bundle: e.Bundle, Sections: e.Sections,
			Artifacts: each(e.Artifacts, artifact)}}}
	case instance.Escalated:
		return &pb.Event{Event: &pb.Event_Escalated{Escalated: &pb.Escalated{
			Number: i32(e.Number), Agent: e.Agent, Reason: e.Reason, RequiresHuman: e.RequiresHuman}}}
	case instance.Resolved:
		return &pb.Event{Event: &pb.Event_Resolved{Resolved: &pb.Resolved{Number: i32(e.Number), Text: e.Text, By: e.By}}}
	case instance.Remembered:
		return &pb.Event{Event: &pb.Event_Remembered{Remembered: &pb.Remembered{Vars: e.Vars}}}
	case instance.ParkedUntil:
		return &pb.Event{Event: &pb.Event_ParkedUntil{ParkedUntil: &pb.ParkedUntil{
			State: e.State, Until: stamp(e.Until), Reason: e.Reason, Standing: e.Standing, WaitsFor: string(e.WaitsFor)}}}
	case instance.Woken:
		return &pb.Event{Event: &pb.Event_Woken{Woken: &pb.Woken{Reason: e.Reason}}}
	case instance.TimedOut:
		return &pb.Event{Event: &pb.Event_TimedOut{TimedOut: &pb.TimedOut{State: e.State, Level: string(e.Level), After: span(e.After)}}}
	case instance.Spawned:
		return &pb.Event{Event: &pb.Event_Spawned{Spawned: &pb.Spawned{
			Instance: e.Instance, Workflow: e.Workflow, State: e.State, Reason: e.Reason}}}
	case instance.LinkEnded:
		return &pb.Event{Event: &pb.Event_LinkEnded{LinkEnded: &pb.LinkEnded{Instance: e.Instance, State: e.State, Well: e.Well}}}
	case instance.Migrated:
		return &pb.Event{Event: &pb.Event_Migrated{Migrated: &pb.Migrated{
			From: e.From, Definition: e.Definition, Owner: e.Owner, Kind: string(e.Kind), Timeout: span(e.Timeout), Reason: e.Reason}}}
	}
	return &pb.Event{}
}

// toEvent decodes an event; nil is one that this build does not know.
func toEvent(p *pb.Event) instance.Event {
	switch p := p.GetEvent().(type) {
	case *pb.Event_Opened:
		e := p.Opened
		return instance.Opened{
			Workflow: name(e.GetWorkflow()), Definition: name(e.GetDefinition()), Issue: ToIssue(e.GetIssue()), Base: e.GetBase(),
			Bundle: e.GetBundle(), State: name(e.GetState()), Owner: name(e.GetOwner()), Kind: workflow.Kind(name(e.GetKind())),
			Timeout: e.GetTimeout().AsDuration(),
			Vars:    e.GetVars(), After: e.GetAfter(), Parent: e.GetParent(), Bundles: each(e.GetBundles(), toBundle)}
	case *pb.Event_Claimed:
		e := p.Claimed
		return instance.Claimed{Token: uint64(e.GetToken()), Role: name(e.GetRole()), Agent: name(e.GetAgent()), Lease: toTime(e.GetLease()),
			Lapsed: name(e.GetLapsed()), Direct: e.GetDirect(), Program: name(e.GetProgram())}
	case *pb.Event_LeaseExtended:
		e := p.LeaseExtended
		return instance.LeaseExtended{Token: uint64(e.GetToken()), Lease: toTime(e.GetLease()), Lapsed: e.GetLapsed()}
	case *pb.Event_Released:
		e := p.Released
		return instance.Released{Token: uint64(e.GetToken()), Agent: e.GetAgent(), Reason: e.GetReason(), Fault: e.GetFault(),
			Until: toTime(e.GetUntil())}
	case *pb.Event_Reported:
		e := p.Reported
		return instance.Reported{Token: uint64(e.GetToken()), Role: name(e.GetRole()), Agent: name(e.GetAgent()), State: name(e.GetState()),
			Result: ToResult(e.GetResult()), Question: int(e.GetQuestion())}
	case *pb.Event_ProposalRefused:
		e := p.ProposalRefused
		return instance.ProposalRefused{From: e.GetFrom(), Proposed: e.GetProposed(), Permitted: e.GetPermitted()}
	case *pb.Event_StatementRefused:
		e := p.StatementRefused
		return instance.StatementRefused{What: e.GetWhat(), Name: e.GetName(), Role: name(e.GetRole()), Agent: name(e.GetAgent()),
			Said: e.GetSaid(), Permitted: e.GetPermitted()}
	case *pb.Event_GateRefused:
		e := p.GateRefused
		return instance.GateRefused{Gate: e.GetGate(), Wanted: e.GetWanted(), Instead: e.GetInstead(), Reason: e.GetReason()}
	case *pb.Event_LoopDetected:
		e := p.LoopDetected
		return instance.LoopDetected{States: e.GetStates(), Reason: e.GetReason()}
	case *pb.Event_Moved:
		e := p.Moved
		return instance.Moved{
			From: name(e.GetFrom()), To: name(e.GetTo()), Owner: name(e.GetOwner()), Kind: workflow.Kind(name(e.GetKind())), Rule: name(e.GetRule()),
			Reason: e.GetReason(), Failure: e.GetFailure(), Loop: e.GetLoop(), Override: e.GetOverride(), Timeout: e.GetTimeout().AsDuration(),
			KeepsClaim: e.GetKeeps(), ResetsFailures: e.GetFresh(), Cites: e.GetCites(), Resumes: e.GetResumes()}
	case *pb.Event_Dispatched:
		e := p.Dispatched
		return instance.Dispatched{State: name(e.GetState()), Owner: name(e.GetOwner()), Reason: e.GetReason(), Question: int(e.GetQuestion())}
	case *pb.Event_Signalled:
		e := p.Signalled
		return instance.Signalled{Name: e.GetName(), Actor: e.GetActor(), Ref: e.GetRef(), Data: e.GetData(),
			Evidence: ToEvidence(e.GetEvidence())}
	case *pb.Event_Asked:
		e := p.Asked
		return instance.Asked{Number: int(e.GetNumber()), From: e.GetFrom(), Text: e.GetText(), To: e.GetTo(), RunOnly: e.GetRunOnly(),
			Form: toForm(e.GetForm()), Deadline: toTime(e.GetDeadline())}
	case *pb.Event_Answered:
		e := p.Answered
		return instance.Answered{Number: int(e.GetNumber()), Text: e.GetText(), By: e.GetBy(), ByDefault: e.GetByDefault()}
	case *pb.Event_Noted:
		e := p.Noted
		return instance.Noted{Author: e.GetAuthor(), Kind: e.GetKind(), Text: e.GetText(), Learning: toLearning(e.GetLearning())}
	case *pb.Event_Spent:
		return instance.Spent{Spend: toSpend(p.Spent.GetSpend())}
	case *pb.Event_BudgetRaised:
		e := p.BudgetRaised
		return instance.BudgetRaised{USD: e.GetUsd(), Tokens: int64(e.GetTokens()), By: e.GetBy()}
	case *pb.Event_DayRaised:
		e := p.DayRaised
		return instance.DayRaised{Budget: e.GetBudget(), USD: e.GetUsd(), Tokens: int64(e.GetTokens()), WallMS: int64(e.GetWallMs()), By: e.GetBy()}
	case *pb.Event_Paused:
		return instance.Paused{Reason: p.Paused.GetReason()}
	case *pb.Event_Reopened:
		return instance.Reopened{Reason: p.Reopened.GetReason()}
	case *pb.Event_Resumed:
		return instance.Resumed{Reason: p.Resumed.GetReason()}
	case *pb.Event_Cancelled:
		return instance.CancelledBy{Reason: p.Cancelled.GetReason()}
	case *pb.Event_Handed:
		e := p.Handed
		return instance.Handed{Head: e.GetHead(), Bundle: e.GetBundle(), Sections: e.GetSections(), Artifacts: each(e.GetArtifacts(), toArtifact)}
	case *pb.Event_Escalated:
		e := p.Escalated
		return instance.Escalated{Number: int(e.GetNumber()), Agent: e.GetAgent(), Reason: e.GetReason(), RequiresHuman: e.GetRequiresHuman()}
	case *pb.Event_Resolved:
		e := p.Resolved
		return instance.Resolved{Number: int(e.GetNumber()), Text: e.GetText(), By: e.GetBy()}
	case *pb.Event_Remembered:
		return instance.Remembered{Vars: p.Remembered.GetVars()}
	case *pb.Event_ParkedUntil:
		e := p.ParkedUntil
		return instance.ParkedUntil{State: e.GetState(), Until: toTime(e.GetUntil()), Reason: e.GetReason(), Standing: e.GetStanding(),
			WaitsFor: instance.Wait(name(e.GetWaitsFor()))}
	case *pb.Event_Woken:
		return instance.Woken{Reason: p.Woken.GetReason()}
	case *pb.Event_TimedOut:
		e := p.TimedOut
		return instance.TimedOut{State: e.GetState(), Level: workflow.Level(e.GetLevel()), After: e.GetAfter().AsDuration()}
	case *pb.Event_Spawned:
		e := p.Spawned
		return instance.Spawned{Instance: e.GetInstance(), Workflow: e.GetWorkflow(), State: e.GetState(), Reason: e.GetReason()}
	case *pb.Event_LinkEnded:
		e := p.LinkEnded
		return instance.LinkEnded{Instance: e.GetInstance(), State: e.GetState(), Well: e.GetWell()}
	case *pb.Event_Migrated:
		e := p.Migrated
		return instance.Migrated{From: e.GetFrom(), Definition: name(e.GetDefinition()), Owner: name(e.GetOwner()),
			Kind: workflow.Kind(name(e.GetKind())), Timeout: e.GetTimeout().AsDuration(), Reason: e.GetReason()}
	}
	return nil
}
