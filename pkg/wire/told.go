package wire

import (
	"time"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/workflow"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Told is an instance as somebody is told of it.
type Told struct {
	instance.Instance
	Past        []string // the states it was in, in place of Previous
	Attempt     int
	Stay, Total time.Duration  // the current stay, and all together
	Next        workflow.Level // of the next deadline, which is Due; empty: there is none
	Due         time.Time
}

// Tell is an instance but for what depends on its definition and on the time of day.
func Tell(in instance.Instance) Told {
	return Told{Instance: in, Past: in.Previous.Slice(), Attempt: in.Visited(in.State)}
}

// Stands adds the rest, at the time now.
func (t *Told) Stands(def *workflow.Definition, now time.Time) {
	t.Stay = 0
	switch t.Closed {
	case instance.Ended:
	case instance.Cancelled:
		t.Stay = t.UpdatedAt.Sub(t.EnteredAt)
	default:
		t.Stay = max(0, now.Sub(t.EnteredAt)) // another's clock may be ahead
	}
	t.Total = t.Stay
	for _, v := range t.Visits {
		t.Total += v.Total
	}
	if next, at, ok := instance.Due(def, t.Instance); ok {
		t.Next, t.Due = next.Level, at
	}
}

// Job is an instance as an agent is told of it that has not seen it yet: of its
// past at most the newest states, and not how often and for how long it was in
// each.
func Job(in instance.Instance, newest int) Told {
	t := Told{Instance: in, Past: in.Previous.Newest(newest), Attempt: in.Visited(in.State)}
	t.Visits = nil
	return t
}

// message makes one of all that there is to tell.
func (t *Told) message() *pb.Instance {
	p := t.rest()
	in := &t.Instance
	p.Instance, p.Workflow, p.Definition, p.State, p.Kind, p.Owner = in.ID, in.Workflow, in.Definition, in.State, string(in.Kind), in.Owner
	p.EnteredAt, p.PreviousStates, p.Visits, p.Iteration = stamp(in.EnteredAt), t.Past, each(in.Visits, visit), i32(in.Iteration)
	p.Returns, p.Loop, p.Attempt, p.Claim, p.Work = i32(in.Returns), in.Loop, i32(t.Attempt), claimant(in.Claim), in.Work
	p.Paused, p.Closed, p.Reason, p.Base, p.Head = in.Paused, string(in.Closed), in.Reason, in.Base, in.Head
	p.LastState, p.Faults, p.Spend, p.Issue = in.LastState, i32(in.Faults), spend(in.Spend), Issue(in.Issue)
	p.OpenedAt, p.Seq, p.UpdatedAt, p.Worker, p.Entered = stamp(in.OpenedAt), in.Seq, stamp(in.UpdatedAt), in.Worker(), in.Entered
	p.Timeout, p.Level, p.Failed, p.Woken, p.Parent = span(in.Timeout), string(in.Level), in.Failed, in.Woken, in.Parent
	p.TimeInState, p.TotalTime = span(t.Stay), span(t.Total)
	if in.Last != nil {
		p.LastResult = Result(*in.Last)
	}
	if t.Next != "" {
		p.NextDeadline = &pb.Deadline{Level: string(t.Next), At: stamp(t.Due)}
	}
	return p
}

// rest is what not every instance has.
func (t *Told) rest() *pb.Instance {
	in := &t.Instance
	p := &pb.Instance{
		Bundles: each(in.Bundles, bundle), Evidence: each(in.Evidence, evidence), Questions: each(in.Questions, Question), Notes: each(in.Notes, note),
		Artifacts: each(in.Artifacts, artifact), Vars: in.Vars, Sections: in.Sections, Failures: failures(in.Failures),
		Escalations: each(in.Escalations, escalation), Parked: parked(in.Parked), Links: each(in.Links, link),
	}
	if in.Failure != (instance.Signature{}) {
		p.Failure = &pb.Failure{Signature: in.Failure.Value, Repeats: i32(in.Failure.Repeats)}
	}
	return p
}

// outline is where it is, and whose turn it is.
func (t *Told) outline() *pb.Instance {
	in := &t.Instance
	return &pb.Instance{
		Instance: in.ID, Workflow: in.Workflow, State: in.State, Kind: string(in.Kind), Owner: in.Owner, Worker: in.Worker(),
		Iteration: i32(in.Iteration), Work: in.Work, Seq: in.Seq, Paused: in.Paused, Closed: string(in.Closed),
	}
}
