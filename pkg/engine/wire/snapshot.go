package wire

import (
	"errors"
	"maps"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/series"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Live encodes an instance for a snapshot: nothing is lost.
func Live(in instance.Instance) *pb.LiveInstance {
	p := &pb.LiveInstance{
		Instance: view(in, in.Previous.Slice()), Tokens: in.Tokens, Direct: in.Direct, Failures: each(in.Failures, StateFailures)}
	if s := in.Spend; s != (instance.Total{}) {
		p.Spend = &pb.TotalSpend{TokensIn: s.TokensIn, TokensOut: s.TokensOut, Usd: s.USD, WallMs: s.WallMS}
	}
	return p
}

// ToLive decodes an instance of a snapshot.
func ToLive(l *pb.LiveInstance) instance.Instance {
	p, cost := l.GetInstance(), l.GetSpend()
	in := instance.Instance{
		ID: p.GetInstance(), Workflow: name(p.GetWorkflow()), Definition: name(p.GetDefinition()), Issue: ToIssue(p.GetIssue()),
		OpenedAt: toTime(p.GetOpenedAt()), State: name(p.GetState()), Kind: workflow.Kind(name(p.GetKind())), Owner: name(p.GetOwner()),
		EnteredAt: toTime(p.GetEnteredAt()), Entered: p.GetEntered(), Timeout: p.GetTimeout().AsDuration(),
		Since: toTime(p.GetDeadlinesSince()), LeftWait: toLeftWait(p.GetLeftWait()),
		Level: workflow.Level(name(p.GetLevel())), Previous: series.New(each(p.GetPreviousStates(), name)...),
		Visits: each(p.GetVisits(), toVisit), Iteration: int(p.GetIteration()), Returns: int(p.GetReturns()), Loop: p.GetLoop(),
		Claim: toClaim(p.GetClaim()), Tokens: l.GetTokens(), Work: p.GetWork(), Direct: l.GetDirect(), Paused: p.GetPaused(),
		Closed: instance.Closed(p.GetClosed()), Reason: p.GetReason(), MoveReason: p.GetMoveReason(), Base: p.GetBase(), Head: p.GetHead(),
		Bundles: each(p.GetBundles(), toBundle), Evidence: ToEvidence(p.GetEvidence()), Last: toLast(p.GetLastResult()),
		LastState: name(p.GetLastState()), Faults: int(p.GetFaults()), Failures: each(l.GetFailures(), ToFailures), Failed: p.GetFailed(),
		Failure:   instance.Signature{Value: p.GetFailure().GetSignature(), Repeats: int(p.GetFailure().GetRepeats())},
		Questions: ToQuestions(p.GetQuestions()), Notes: ToNotes(p.GetNotes()), Artifacts: each(p.GetArtifacts(), toArtifact),
		Spend: instance.Total{TokensIn: cost.GetTokensIn(), TokensOut: cost.GetTokensOut(), USD: cost.GetUsd(), WallMS: cost.GetWallMs()},
		Vars:  p.GetVars(), Sections: p.GetSections(), Escalations: ToEscalations(p.GetEscalations()), Parked: ToParked(p.GetParked()),
		Woken: p.GetWoken(), Parent: p.GetParent(), Links: ToLinks(p.GetLinks()), Raised: ToRaise(p.GetRaised()), Seq: p.GetSeq(), UpdatedAt: toTime(p.GetUpdatedAt()),
	}
	return in
}

// ToInstance decodes an instance as readers get it. Its cost is rounded, and it lacks the numbers of tokens.
func ToInstance(p *pb.Instance) instance.Instance {
	in := ToLive(&pb.LiveInstance{Instance: p})
	cost := ToCost(p.GetSpend())
	in.Spend = instance.Total{TokensIn: int64(cost.TokensIn), TokensOut: int64(cost.TokensOut), USD: cost.USD, WallMS: int64(cost.WallMS)}
	for _, state := range slices.Sorted(maps.Keys(p.GetFailures())) {
		in.Failures = append(in.Failures, instance.FailureCount{State: state, Count: int(p.GetFailures()[state])})
	}
	return in
}

func toLeftWait(p *pb.LeftWait) instance.LeftWait {
	return instance.LeftWait{State: name(p.GetState()), Since: toTime(p.GetSince()), Level: workflow.Level(name(p.GetLevel()))}
}

func toLast(p *pb.Result) *instance.Result {
	if p == nil {
		return nil
	}
	r := ToResult(p)
	return &r
}

// Header is what a start needs to know of an instance of a snapshot before it
// decodes the rest.
type Header struct {
	ID, Definition string
	Given          bool   // a claim that named no instance was given this one
	Encoded        []byte // the pb.LiveInstance
}

var errNoID = errors.New("an instance of the snapshot has no id")

// Headers decodes the headers of encoded LiveInstances. An error means that the
// block is damaged.
func Headers(block []byte) ([]Header, error) {
	encoded := new(pb.EncodedInstances)
	if err := proto.Unmarshal(block, encoded); err != nil {
		return nil, err
	}
	all := make([]Header, len(encoded.GetInstances()))
	for i, data := range encoded.GetInstances() {
		p := new(pb.LiveHeader)
		if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(data, p); err != nil {
			return nil, err
		}
		in := p.GetInstance()
		if in.GetInstance() == "" {
			return nil, errNoID
		}
		all[i] = Header{ID: in.GetInstance(), Definition: name(in.GetDefinition()), Given: len(p.GetGiven()) > 0, Encoded: data}
	}
	return all, nil
}

// Ending encodes what instances that ended in the same way have in common.
func Ending(in instance.Instance) *pb.Ending {
	shown, documents, unproven := in.Shown().Outline()
	return &pb.Ending{Workflow: in.Workflow, Definition: in.Definition, State: in.State, Owner: in.Owner, Kind: string(in.Kind),
		Closed: string(in.Closed), Timeout: span(in.Timeout), Level: string(in.Level), Failed: in.Failed,
		Shown: shown, Documents: documents, Unproven: unproven}
}

// Ended encodes the rest that a list, and the instances linked to it, need of an
// instance that ended.
func Ended(in instance.Instance) *pb.EndedInstance {
	return &pb.EndedInstance{
		Instance: in.ID, Title: in.Issue.Title, Seq: in.Seq, Entered: in.EnteredAt.UnixNano(), Updated: in.UpdatedAt.UnixNano(),
		Iteration: uint32(in.Iteration), Attempt: uint32(in.Visited(in.State)), Parent: in.Parent, Paused: in.Paused, Parked: parked(in.Parked),
		Failures: each(in.Failures, StateFailures), Questions: each(in.Questions, Question), Escalations: each(in.Escalations, escalation),
		Links: each(in.Links, link),
	}
}

// ToEnded decodes an instance that ended from its two messages.
func ToEnded(end *pb.Ending, p *pb.EndedInstance) instance.Instance {
	in := instance.Instance{
		ID: p.GetInstance(), Workflow: name(end.GetWorkflow()), Definition: name(end.GetDefinition()), State: name(end.GetState()),
		Owner: name(end.GetOwner()), Kind: workflow.Kind(name(end.GetKind())), Closed: instance.Closed(name(end.GetClosed())),
		Timeout: end.GetTimeout().AsDuration(), Level: workflow.Level(name(end.GetLevel())), Failed: end.GetFailed(), Seq: p.GetSeq(),
		EnteredAt: time.Unix(0, p.GetEntered()).UTC(), UpdatedAt: time.Unix(0, p.GetUpdated()).UTC(),
		Iteration: int(p.GetIteration()), Parent: p.GetParent(), Paused: p.GetPaused(), Parked: ToParked(p.GetParked()),
		Failures: each(p.GetFailures(), ToFailures), Questions: ToQuestions(p.GetQuestions()),
		Escalations: ToEscalations(p.GetEscalations()), Links: ToLinks(p.GetLinks()),
	}
	in.Issue.Title = p.GetTitle()
	in.Head, in.Evidence = instance.KeptProof(end.GetShown(), end.GetDocuments(), name(end.GetUnproven()))
	if p.GetAttempt() > 0 {
		in.Visits = []instance.Visit{{State: in.State, Count: int(p.GetAttempt())}}
	}
	return in
}

// StateFailures encodes the failures in a state.
func StateFailures(f instance.FailureCount) *pb.StateFailures {
	return &pb.StateFailures{State: f.State, Count: i32(f.Count)}
}

// ToFailures decodes the failures in a state.
func ToFailures(p *pb.StateFailures) instance.FailureCount {
	return instance.FailureCount{State: name(p.GetState()), Count: int(p.GetCount())}
}
