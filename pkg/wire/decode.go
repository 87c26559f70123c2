package wire

import (
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/workflow"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

func toEvent(p *pb.Event) instance.Event {
	switch e := p.GetEvent().(type) {
	case *pb.Event_Opened:
		o := e.Opened
		return instance.Opened{Workflow: o.GetWorkflow(), Definition: o.GetDefinition(), Issue: ToIssue(o.GetIssue()), Base: o.GetBase(),
			Bundle: o.GetBundle(), State: o.GetState(), Owner: o.GetOwner(), Kind: workflow.Kind(o.GetKind()),
			Timeout: o.GetTimeout().AsDuration(), Vars: o.GetVars(), After: o.GetAfter(), Parent: o.GetParent(), Bundles: each(o.GetBundles(), toBundle)}
	case *pb.Event_Claimed:
		return instance.Claimed{Token: uint64(e.Claimed.GetToken()), Role: e.Claimed.GetRole(), Agent: e.Claimed.GetAgent(), Lease: toTime(e.Claimed.GetLease()), Lapsed: e.Claimed.GetLapsed(), Direct: e.Claimed.GetDirect()}
	case *pb.Event_LeaseExtended:
		return instance.LeaseExtended{Token: uint64(e.LeaseExtended.GetToken()), Lease: toTime(e.LeaseExtended.GetLease())}
	case *pb.Event_Released:
		return instance.Released{Token: uint64(e.Released.GetToken()), Agent: e.Released.GetAgent(), Reason: e.Released.GetReason(), Fault: e.Released.GetFault()}
	case *pb.Event_Reported:
		r := e.Reported
		return instance.Reported{Token: uint64(r.GetToken()), Role: r.GetRole(), Agent: r.GetAgent(), State: r.GetState(), Result: ToResult(r.GetResult()), Question: int(r.GetQuestion())}
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
			Failure: m.GetFailure(), Loop: m.GetLoop(), Override: m.GetOverride(), Timeout: m.GetTimeout().AsDuration(), KeepsClaim: m.GetKeeps(), ResetsFailures: m.GetFresh(), Cites: m.GetCites()}
	case *pb.Event_Dispatched:
		return instance.Dispatched{State: e.Dispatched.GetState(), Owner: e.Dispatched.GetOwner(), Reason: e.Dispatched.GetReason(), Question: int(e.Dispatched.GetQuestion())}
	case *pb.Event_Signalled:
		s := e.Signalled
		return instance.Signalled{Name: s.GetName(), Actor: s.GetActor(), Ref: s.GetRef(), Data: s.GetData(), Evidence: each(s.GetEvidence(), toEvidence)}
	case *pb.Event_Asked:
		return instance.Asked{Number: int(e.Asked.GetNumber()), From: e.Asked.GetFrom(), Text: e.Asked.GetText(), To: e.Asked.GetTo()}
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
	return toRare(p)
}

func toRare(p *pb.Event) instance.Event {
	switch e := p.GetEvent().(type) {
	case *pb.Event_Handed:
		return instance.Handed{Head: e.Handed.GetHead(), Bundle: e.Handed.GetBundle(), Sections: e.Handed.GetSections()}
	case *pb.Event_Escalated:
		x := e.Escalated
		return instance.Escalated{Number: int(x.GetNumber()), Agent: x.GetAgent(), Reason: x.GetReason(), RequiresHuman: x.GetRequiresHuman()}
	case *pb.Event_Resolved:
		return instance.Resolved{Number: int(e.Resolved.GetNumber()), Text: e.Resolved.GetText(), By: e.Resolved.GetBy()}
	case *pb.Event_Remembered:
		return instance.Remembered{Vars: e.Remembered.GetVars()}
	case *pb.Event_ParkedUntil:
		return instance.ParkedUntil{State: e.ParkedUntil.GetState(), Until: toTime(e.ParkedUntil.GetUntil()), Reason: e.ParkedUntil.GetReason(),
			Standing: e.ParkedUntil.GetStanding()}
	case *pb.Event_Woken:
		return instance.Woken{Reason: e.Woken.GetReason()}
	case *pb.Event_TimedOut:
		return instance.TimedOut{State: e.TimedOut.GetState(), Level: workflow.Level(e.TimedOut.GetLevel()), After: e.TimedOut.GetAfter().AsDuration()}
	case *pb.Event_Spawned:
		s := e.Spawned
		return instance.Spawned{Instance: s.GetInstance(), Workflow: s.GetWorkflow(), State: s.GetState(), Reason: s.GetReason()}
	case *pb.Event_LinkEnded:
		return instance.LinkEnded{Instance: e.LinkEnded.GetInstance(), State: e.LinkEnded.GetState(), Well: e.LinkEnded.GetWell()}
	case *pb.Event_Migrated:
		m := e.Migrated
		return instance.Migrated{From: m.GetFrom(), Definition: m.GetDefinition(), Owner: m.GetOwner(), Kind: workflow.Kind(m.GetKind()),
			Timeout: m.GetTimeout().AsDuration(), Reason: m.GetReason()}
	}
	return nil
}

func toBundle(p *pb.Bundle) instance.Bundle {
	return instance.Bundle{Object: p.GetObject(), Head: p.GetHead()}
}
