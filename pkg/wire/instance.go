package wire

import (
	"github.com/signalbox/signalbox/pkg/instance"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Instance encodes an instance for a reader.
func Instance(in instance.Instance) *pb.Instance {
	p := &pb.Instance{
		Instance: in.ID, Workflow: in.Workflow, Definition: in.Definition, State: in.State, Kind: string(in.Kind), Owner: in.Owner,
		EnteredAt: stamp(in.EnteredAt), PreviousStates: in.Previous, Visits: each(in.Visits, visit), Iteration: i32(in.Iteration),
		Returns: i32(in.Returns), Loop: in.Loop, Attempt: i32(in.Visited(in.State)), Claim: claimant(in.Claim), Work: in.Work,
		Paused: in.Paused, Closed: string(in.Closed), Reason: in.Reason, Base: in.Base, Head: in.Head, Bundles: each(in.Bundles, bundle),
		Evidence: each(in.Evidence, evidence), LastState: in.LastState, Faults: i32(in.Faults), Questions: each(in.Questions, Question),
		Notes: each(in.Notes, note), Spend: spend(in.Spend), Artifacts: each(in.Artifacts, artifact), Issue: Issue(in.Issue),
		OpenedAt: stamp(in.OpenedAt), Seq: in.Seq, UpdatedAt: stamp(in.UpdatedAt),
	}
	if in.Last != nil {
		p.LastResult = Result(*in.Last)
	}
	if in.Failure != (instance.Signature{}) {
		p.Failure = &pb.Failure{Signature: in.Failure.Value, Repeats: i32(in.Failure.Repeats)}
	}
	return p
}

// Summary encodes one line of a list.
func Summary(in instance.Instance) *pb.Summary {
	s := &pb.Summary{
		Instance: in.ID, Workflow: in.Workflow, State: in.State, Kind: string(in.Kind), Owner: in.Owner, EnteredAt: stamp(in.EnteredAt),
		Iteration: i32(in.Iteration), Attempt: i32(in.Visited(in.State)), OpenQuestions: i32(len(in.OpenQuestions())),
		Paused: in.Paused, Closed: string(in.Closed), Title: in.Issue.Title, Seq: in.Seq,
	}
	if in.Claim != nil {
		s.Agent, s.Lease = in.Claim.Agent, stamp(in.Claim.Lease)
	}
	return s
}

// Question encodes a question.
func Question(q instance.Question) *pb.Question {
	return &pb.Question{Number: i32(q.Number), From: q.From, Text: q.Text, AskedAt: stamp(q.AskedAt), Answered: q.Answered, Answer: q.Answer, By: q.By}
}

// ToQuestion decodes a question.
func ToQuestion(p *pb.Question) instance.Question {
	return instance.Question{Number: int(p.GetNumber()), From: p.GetFrom(), Text: p.GetText(), AskedAt: toTime(p.GetAskedAt()),
		Answered: p.GetAnswered(), Answer: p.GetAnswer(), By: p.GetBy()}
}

// ToNote decodes a note.
func ToNote(p *pb.Remark) instance.Note {
	return instance.Note{Author: p.GetAuthor(), Kind: p.GetKind(), Text: p.GetText(), At: toTime(p.GetAt())}
}

// ToEvidence decodes evidence.
func ToEvidence(p []*pb.Evidence) []instance.Evidence { return each(p, toEvidence) }

// ToQuestions decodes questions.
func ToQuestions(p []*pb.Question) []instance.Question { return each(p, ToQuestion) }

// ToNotes decodes notes.
func ToNotes(p []*pb.Remark) []instance.Note { return each(p, ToNote) }

func note(n instance.Note) *pb.Remark {
	return &pb.Remark{Author: n.Author, Kind: n.Kind, Text: n.Text, At: stamp(n.At)}
}

func visit(v instance.Visit) *pb.Visit {
	return &pb.Visit{State: v.State, Count: i32(v.Count), Millis: u32(v.Total.Milliseconds())}
}

func bundle(b instance.Bundle) *pb.Bundle { return &pb.Bundle{Object: b.Object, Head: b.Head} }

func claimant(c *instance.Claim) *pb.Claimant {
	if c == nil {
		return nil
	}
	return &pb.Claimant{Token: u32(c.Token), Role: c.Role, Agent: c.Agent, At: stamp(c.At), Lease: stamp(c.Lease)}
}
