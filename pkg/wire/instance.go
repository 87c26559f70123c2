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
	t := Tell(in)
	return t.message()
}

// Standing encodes an instance as it stands at the time now.
func Standing(def *workflow.Definition, in instance.Instance, now time.Time) *pb.Instance {
	t := Tell(in)
	t.Stands(def, now)
	return t.message()
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
func ToNote(p *pb.Remark) instance.NoteEntry {
	return instance.NoteEntry{Author: p.GetAuthor(), Kind: p.GetKind(), Text: p.GetText(), At: toTime(p.GetAt())}
}

// ToEvidence decodes evidence.
func ToEvidence(p []*pb.Evidence) []instance.Evidence { return each(p, toEvidence) }

// Evidence encodes evidence.
func Evidence(all []instance.Evidence) []*pb.Evidence { return each(all, evidence) }

// ToQuestions decodes questions.
func ToQuestions(p []*pb.Question) []instance.Question { return each(p, ToQuestion) }

// ToNotes decodes notes.
func ToNotes(p []*pb.Remark) []instance.NoteEntry { return each(p, ToNote) }

func note(n instance.NoteEntry) *pb.Remark {
	return &pb.Remark{Author: n.Author, Kind: n.Kind, Text: n.Text, At: stamp(n.At)}
}

func visit(v instance.Visit) *pb.Visit {
	return &pb.Visit{State: v.State, Count: i32(v.Count), Millis: u32(v.Total.Milliseconds()), Time: span(v.Total)}
}

func bundle(b instance.Bundle) *pb.Bundle { return &pb.Bundle{Object: b.Object, Head: b.Head} }

func claimant(c *instance.ActiveClaim) *pb.Claimant {
	if c == nil {
		return nil
	}
	return &pb.Claimant{Token: u32(c.Token), Role: c.Role, Agent: c.Agent, At: stamp(c.At), Lease: stamp(c.Lease)}
}
