package wire

import (
	"time"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/workflow"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Instance encodes an instance for a reader, but for what depends on its
// definition and on the time of day: Standing has that too.
func Instance(in instance.Instance) *pb.Instance {
	p := &pb.Instance{
		Instance: in.ID, Workflow: in.Workflow, Definition: in.Definition, State: in.State, Kind: string(in.Kind), Owner: in.Owner,
		EnteredAt: stamp(in.EnteredAt), PreviousStates: in.Previous.Slice(), Visits: each(in.Visits, visit), Iteration: i32(in.Iteration),
		Returns: i32(in.Returns), Loop: in.Loop, Attempt: i32(in.Visited(in.State)), Claim: claimant(in.Claim), Work: in.Work,
		Paused: in.Paused, Closed: string(in.Closed), Reason: in.Reason, Base: in.Base, Head: in.Head, Bundles: each(in.Bundles, bundle),
		Evidence: each(in.Evidence, evidence), LastState: in.LastState, Faults: i32(in.Faults), Questions: each(in.Questions, Question),
		Notes: each(in.Notes, note), Spend: spend(in.Spend), Artifacts: each(in.Artifacts, artifact), Issue: Issue(in.Issue),
		OpenedAt: stamp(in.OpenedAt), Seq: in.Seq, UpdatedAt: stamp(in.UpdatedAt), Worker: in.Worker(), Entered: in.Entered,
		Timeout: span(in.Timeout), Level: string(in.Level), Vars: in.Vars, Sections: in.Sections, Failures: failures(in.Failures), Failed: in.Failed,
		Escalations: each(in.Escalations, escalation), Parked: parked(in.Parked), Woken: in.Woken, Parent: in.Parent, Links: each(in.Links, link),
	}
	if in.Last != nil {
		p.LastResult = Result(*in.Last)
	}
	if in.Failure != (instance.Signature{}) {
		p.Failure = &pb.Failure{Signature: in.Failure.Value, Repeats: i32(in.Failure.Repeats)}
	}
	return p
}

// Standing encodes an instance as it stands at the time now.
func Standing(def *workflow.Definition, in instance.Instance, now time.Time) *pb.Instance {
	p := Instance(in)
	stay := time.Duration(0)
	switch in.Closed {
	case instance.Ended:
	case instance.Cancelled:
		stay = in.UpdatedAt.Sub(in.EnteredAt)
	default:
		stay = max(0, now.Sub(in.EnteredAt)) // another's clock may be ahead
	}
	total := stay
	for _, v := range in.Visits {
		total += v.Total
	}
	p.TimeInState, p.TotalTime = span(stay), span(total)
	if next, at, ok := instance.Due(def, in); ok {
		p.NextDeadline = &pb.Deadline{Level: string(next.Level), At: stamp(at)}
	}
	return p
}

// Summary encodes one line of a list.
func Summary(in instance.Instance) *pb.Summary {
	s := &pb.Summary{
		Instance: in.ID, Workflow: in.Workflow, State: in.State, Kind: string(in.Kind), Owner: in.Owner, EnteredAt: stamp(in.EnteredAt),
		Iteration: i32(in.Iteration), Attempt: i32(in.Visited(in.State)), OpenQuestions: i32(len(in.OpenQuestions())),
		Paused: in.Paused, Closed: string(in.Closed), Title: in.Issue.Title, Seq: in.Seq,
		Worker: in.Worker(), Timeout: span(in.Timeout), Level: string(in.Level), Parked: parked(in.Parked), Parent: in.Parent, WaitingOn: i32(in.WaitingOn()),
	}
	for _, f := range in.Failures {
		s.Failures = max(s.Failures, i32(f.Count))
	}
	for _, e := range in.Escalations {
		if !e.Resolved {
			s.OpenEscalations++
		}
	}
	if in.Claim != nil {
		s.Agent, s.Lease = in.Claim.Agent, stamp(in.Claim.Lease)
	}
	return s
}

// Question encodes a question.
func Question(q instance.Question) *pb.Question {
	return &pb.Question{Number: i32(q.Number), From: q.From, Text: q.Text, AskedAt: stamp(q.AskedAt), Answered: q.Answered, Answer: q.Answer, By: q.By,
		To: q.To, Withdrawn: q.Withdrawn}
}

// ToQuestion decodes a question.
func ToQuestion(p *pb.Question) instance.Question {
	return instance.Question{Number: int(p.GetNumber()), From: p.GetFrom(), Text: p.GetText(), AskedAt: toTime(p.GetAskedAt()),
		Answered: p.GetAnswered(), Answer: p.GetAnswer(), By: p.GetBy(), To: p.GetTo(), Withdrawn: p.GetWithdrawn()}
}

// ToNote decodes a note.
func ToNote(p *pb.Remark) instance.Note {
	return instance.Note{Author: p.GetAuthor(), Kind: p.GetKind(), Text: p.GetText(), At: toTime(p.GetAt())}
}

// ToEvidence decodes evidence.
func ToEvidence(p []*pb.Evidence) []instance.Evidence { return each(p, toEvidence) }

// Evidence encodes evidence.
func Evidence(all []instance.Evidence) []*pb.Evidence { return each(all, evidence) }

// ToQuestions decodes questions.
func ToQuestions(p []*pb.Question) []instance.Question { return each(p, ToQuestion) }

// ToNotes decodes notes.
func ToNotes(p []*pb.Remark) []instance.Note { return each(p, ToNote) }

func note(n instance.Note) *pb.Remark {
	return &pb.Remark{Author: n.Author, Kind: n.Kind, Text: n.Text, At: stamp(n.At)}
}

func visit(v instance.Visit) *pb.Visit {
	return &pb.Visit{State: v.State, Count: i32(v.Count), Millis: u32(v.Total.Milliseconds()), Time: span(v.Total)}
}

func bundle(b instance.Bundle) *pb.Bundle { return &pb.Bundle{Object: b.Object, Head: b.Head} }

func claimant(c *instance.Claim) *pb.Claimant {
	if c == nil {
		return nil
	}
	return &pb.Claimant{Token: u32(c.Token), Role: c.Role, Agent: c.Agent, At: stamp(c.At), Lease: stamp(c.Lease)}
}
