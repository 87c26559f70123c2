package wire

import (
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/series"
	"github.com/signalbox/signalbox/pkg/workflow"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Live encodes an instance for who goes on with it: nothing is lost.
func Live(in instance.Instance) *pb.LiveInstance {
	p := &pb.LiveInstance{Instance: Instance(in), Tokens: in.Tokens, Direct: in.Direct, Failures: each(in.Failures, StateFailures)}
	p.Instance.Failures, p.Instance.Spend = nil, nil // here they are exact
	p.Instance.Worker, p.Instance.Attempt = "", 0    // these follow from the rest
	if s := in.Spend; s != (instance.Cost{}) {
		p.Spend = &pb.TotalSpend{TokensIn: s.TokensIn, TokensOut: s.TokensOut, Usd: s.USD, WallMs: s.WallMS}
	}
	return p
}

// ToLive decodes an instance.
func (n *Names) ToLive(l *pb.LiveInstance) instance.Instance {
	p := l.GetInstance()
	in := instance.Instance{
		ID: p.GetInstance(), Workflow: n.Of(p.GetWorkflow()), Definition: n.Of(p.GetDefinition()), Issue: ToIssue(p.GetIssue()), OpenedAt: toTime(p.GetOpenedAt()),
		State: n.Of(p.GetState()), Kind: workflow.Kind(n.Of(p.GetKind())), Owner: n.Of(p.GetOwner()), EnteredAt: toTime(p.GetEnteredAt()), Entered: p.GetEntered(),
		Timeout: p.GetTimeout().AsDuration(), Level: workflow.Level(n.Of(p.GetLevel())), Previous: n.past(p.GetPreviousStates()), Visits: each(p.GetVisits(), n.toVisit),
		Iteration: int(p.GetIteration()), Returns: int(p.GetReturns()), Loop: p.GetLoop(), Claim: n.toClaim(p.GetClaim()), Tokens: l.GetTokens(), Work: p.GetWork(), Direct: l.GetDirect(),
		Paused: p.GetPaused(), Closed: instance.Closed(p.GetClosed()), Reason: p.GetReason(), Base: p.GetBase(), Head: p.GetHead(),
		Bundles: each(p.GetBundles(), toBundle), Evidence: ToEvidence(p.GetEvidence()), LastState: n.Of(p.GetLastState()),
		Failure: instance.Signature{Value: p.GetFailure().GetSignature(), Repeats: int(p.GetFailure().GetRepeats())}, Faults: int(p.GetFaults()),
		Failures: each(l.GetFailures(), n.ToFailures), Failed: p.GetFailed(), Questions: ToQuestions(p.GetQuestions()), Notes: ToNotes(p.GetNotes()),
		Spend:     instance.Cost{TokensIn: l.GetSpend().GetTokensIn(), TokensOut: l.GetSpend().GetTokensOut(), USD: l.GetSpend().GetUsd(), WallMS: l.GetSpend().GetWallMs()},
		Artifacts: each(p.GetArtifacts(), toArtifact), Vars: p.GetVars(), Sections: p.GetSections(), Escalations: ToEscalations(p.GetEscalations()),
		Parked: ToParked(p.GetParked()), Woken: p.GetWoken(), Parent: p.GetParent(), Links: ToLinks(p.GetLinks()), Seq: p.GetSeq(), UpdatedAt: toTime(p.GetUpdatedAt()),
	}
	in.Issue.Repo = n.Of(in.Issue.Repo)
	if p.GetLastResult() != nil {
		last := ToResult(p.GetLastResult())
		in.Last = &last
	}
	return in
}

func (n *Names) past(states []string) instance.Past {
	for i := range states {
		states[i] = n.Of(states[i])
	}
	return series.New(states...)
}

func (n *Names) toVisit(p *pb.Visit) instance.Visit {
	return instance.Visit{State: n.Of(p.GetState()), Count: int(p.GetCount()), Total: p.GetTime().AsDuration()}
}

func (n *Names) toClaim(p *pb.Claimant) *instance.ActiveClaim {
	if p == nil {
		return nil
	}
	return &instance.ActiveClaim{Token: uint64(p.GetToken()), Role: n.Of(p.GetRole()), Agent: n.Of(p.GetAgent()), At: toTime(p.GetAt()), Lease: toTime(p.GetLease())}
}

// StateFailures encodes the failures in a state.
func StateFailures(f instance.FailureCount) *pb.StateFailures {
	return &pb.StateFailures{State: f.State, Count: i32(f.Count)}
}

// ToFailures decodes the failures in a state.
func (n *Names) ToFailures(p *pb.StateFailures) instance.FailureCount {
	return instance.FailureCount{State: n.Of(p.GetState()), Count: int(p.GetCount())}
}
