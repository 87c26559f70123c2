package wire

import (
	"time"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/workflow"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Ending encodes how an instance ended, as far as others end in the same way.
func Ending(in instance.Instance) *pb.Ending {
	return &pb.Ending{Workflow: in.Workflow, Definition: in.Definition, State: in.State, Owner: in.Owner, Kind: string(in.Kind),
		Closed: string(in.Closed), Timeout: span(in.Timeout), Level: string(in.Level), Failed: in.Failed}
}

// Ended encodes what else a list, and those linked to it, tell of an instance
// that ended.
func Ended(in instance.Instance) *pb.EndedInstance {
	return &pb.EndedInstance{
		Instance: in.ID, Title: in.Issue.Title, Seq: in.Seq, Entered: in.EnteredAt.UnixNano(), Updated: in.UpdatedAt.UnixNano(),
		Iteration: uint32(in.Iteration), Attempt: uint32(in.Visited(in.State)), Parent: in.Parent, Paused: in.Paused, Parked: parked(in.Parked),
		Failures: each(in.Failures, StateFailures), Questions: each(in.Questions, Question), Escalations: each(in.Escalations, escalation), Links: each(in.Links, link),
	}
}

// ToEnded decodes both.
func (n *Names) ToEnded(end *pb.Ending, p *pb.EndedInstance) instance.Instance {
	state := n.Of(end.GetState())
	in := instance.Instance{
		ID: p.GetInstance(), Workflow: n.Of(end.GetWorkflow()), Definition: n.Of(end.GetDefinition()), State: state, Owner: n.Of(end.GetOwner()),
		Kind: workflow.Kind(n.Of(end.GetKind())), Closed: instance.Closed(n.Of(end.GetClosed())), Timeout: end.GetTimeout().AsDuration(),
		Level: workflow.Level(n.Of(end.GetLevel())), Failed: end.GetFailed(), Seq: p.GetSeq(),
		EnteredAt: time.Unix(0, p.GetEntered()).UTC(), UpdatedAt: time.Unix(0, p.GetUpdated()).UTC(),
		Iteration: int(p.GetIteration()), Parent: p.GetParent(), Paused: p.GetPaused(), Parked: ToParked(p.GetParked()),
		Failures: each(p.GetFailures(), n.ToFailures), Questions: ToQuestions(p.GetQuestions()), Escalations: ToEscalations(p.GetEscalations()), Links: ToLinks(p.GetLinks()),
	}
	in.Issue.Title = p.GetTitle()
	if p.GetAttempt() > 0 {
		in.Visits = []instance.Visit{{State: state, Count: int(p.GetAttempt())}}
	}
	return in
}
