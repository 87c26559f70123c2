package wire

import (
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// view is the one mapping of an instance: what a snapshot, a reader and an agent
// all get. past is its previous states, or as many of them as are wanted. ToLive
// decodes it.
func view(in instance.Instance, past []string) *pb.Instance {
	return &pb.Instance{
		Instance: in.ID, Workflow: in.Workflow, Definition: in.Definition, State: in.State, Kind: string(in.Kind), Owner: in.Owner,
		EnteredAt: stamp(in.EnteredAt), PreviousStates: past, Visits: each(in.Visits, visit), Iteration: i32(in.Iteration),
		Returns: i32(in.Returns), Loop: in.Loop, Claim: claimant(in.Claim), Work: in.Work, Paused: in.Paused, Closed: string(in.Closed),
		Reason: in.Reason, MoveReason: in.MoveReason, Base: in.Base, Head: in.Head, Bundles: each(in.Bundles, bundle), Evidence: Evidence(in.Evidence),
		LastResult: last(in.Last), LastState: in.LastState, Failure: failure(in.Failure), Faults: i32(in.Faults),
		Questions: each(in.Questions, Question), Notes: each(in.Notes, note), Artifacts: each(in.Artifacts, artifact),
		Issue: Issue(in.Issue), OpenedAt: stamp(in.OpenedAt), Seq: in.Seq, UpdatedAt: stamp(in.UpdatedAt), Entered: in.Entered,
		Timeout: span(in.Timeout), Level: string(in.Level), Vars: in.Vars, Sections: in.Sections, Failed: in.Failed,
		Escalations: each(in.Escalations, escalation), Parked: parked(in.Parked), Woken: in.Woken, Parent: in.Parent,
		Links: each(in.Links, link), Raised: raise(in.Raised),
		DeadlinesSince: stamp(in.Since), LeftWait: leftWait(in.LeftWait),
	}
}

// leftWait encodes a wait that was left; nil for none.
func leftWait(w instance.LeftWait) *pb.LeftWait {
	if w == (instance.LeftWait{}) {
		return nil
	}
	return &pb.LeftWait{State: w.State, Since: stamp(w.Since), Level: string(w.Level)}
}

// raise encodes a raise; nil for none.
func raise(r instance.Raise) *pb.Raise {
	if r == (instance.Raise{}) {
		return nil
	}
	return &pb.Raise{Usd: r.USD, Tokens: uint64(max(r.Tokens, 0))}
}

// ToRaise decodes a raise.
func ToRaise(p *pb.Raise) instance.Raise {
	return instance.Raise{USD: p.GetUsd(), Tokens: int64(p.GetTokens())}
}

// readable is view with what follows from the rest, and with the failures and the
// cost in their short form: a snapshot has those exactly.
func readable(in instance.Instance, past []string) *pb.Instance {
	p := view(in, past)
	p.Attempt, p.Worker = i32(in.Visited(in.State)), in.Worker()
	p.Failures, p.Spend = failures(in.Failures), spend(in.Spend.Cost())
	return p
}

// FullView encodes an instance for a reader, but for what depends on its
// definition and on the time of day.
func FullView(in instance.Instance) *pb.Instance { return readable(in, in.Previous.Slice()) }

// WithDeadlines encodes an instance for a reader at the time now: FullView, the
// time it has spent, and its next deadline.
func WithDeadlines(def *workflow.Definition, in instance.Instance, now time.Time) *pb.Instance {
	p := FullView(in)
	var stay time.Duration
	switch in.Closed {
	case instance.Ended:
	case instance.Cancelled:
		stay = in.UpdatedAt.Sub(in.EnteredAt)
	default:
		stay = max(0, now.Sub(in.EnteredAt)) // the clock that wrote EnteredAt may be ahead
	}
	total := stay
	for _, v := range in.Visits {
		total += v.Total
	}
	p.TimeInState, p.TotalTime, p.NextDeadline = span(stay), span(total), NextDeadline(def, in)
	return p
}

// NextDeadline encodes the next deadline of the current stay; nil if there is none.
func NextDeadline(def *workflow.Definition, in instance.Instance) *pb.Deadline {
	next, at, ok := instance.Due(def, in)
	if !ok || next.Level == "" {
		return nil
	}
	return &pb.Deadline{Level: string(next.Level), At: stamp(at)}
}

// AgentView encodes an instance for an agent that claims it. Its cost does not
// grow with the instance's past: it has at most the newest of the previous
// states, and no visits.
func AgentView(in instance.Instance, newest int) *pb.Instance {
	attempt := i32(in.Visited(in.State))
	in.Visits = nil // before they are encoded
	p := readable(in, in.Previous.Last(newest))
	p.Attempt = attempt
	return p
}

// Compact encodes where an instance is and which role is to work on it, for an
// agent that knows the rest.
func Compact(in instance.Instance) *pb.Instance {
	return &pb.Instance{
		Instance: in.ID, Workflow: in.Workflow, State: in.State, Kind: string(in.Kind), Owner: in.Owner, Worker: in.Worker(),
		Iteration: i32(in.Iteration), Work: in.Work, Seq: in.Seq, Paused: in.Paused, Closed: string(in.Closed),
	}
}

// maxLine is how many bytes of a text a summary has: many are in one message.
const maxLine = 1000

// line returns the beginning of a text.
func line(text string) string {
	if len(text) <= maxLine {
		return text
	}
	return strings.ToValidUTF8(text[:maxLine], "") + "…"
}

// Summary encodes one line of a list. It has the beginnings of long texts.
func Summary(in instance.Instance) *pb.Summary {
	s := &pb.Summary{
		Instance: in.ID, Workflow: in.Workflow, State: in.State, Kind: string(in.Kind), Owner: in.Owner, EnteredAt: stamp(in.EnteredAt),
		Iteration: i32(in.Iteration), Attempt: i32(in.Visited(in.State)), OpenQuestions: i32(len(in.OpenQuestions())),
		Paused: in.Paused, Closed: string(in.Closed), Title: line(in.Issue.Title), Seq: in.Seq, Worker: in.Worker(), Timeout: span(in.Timeout),
		Level: string(in.Level), Parked: parked(in.Parked), Parent: in.Parent, WaitingOn: i32(in.WaitingOn()),
		UpdatedAt: stamp(in.UpdatedAt), Waiting: in.WaitsForPeople(),
	}
	kept := instance.Instance{ID: in.ID} // of a closed one no more is kept
	if in.Closed == "" {
		kept.Issue.Repo, s.Labels = in.Issue.Repo, each(in.Issue.Labels, line)
		if in.Spend != (instance.Total{}) {
			s.Spend = spend(in.Spend.Cost())
		}
	}
	s.Repo = kept.Repo()
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
	if in.Paused && in.Closed == "" {
		s.PausedFor = line(in.Reason)
	}
	s.Shown, _, s.Unproven = in.Shown().Outline()
	return s
}

// Question encodes a question.
func Question(q instance.Question) *pb.Question {
	return &pb.Question{Number: i32(q.Number), From: q.From, Text: q.Text, AskedAt: stamp(q.AskedAt), Answered: q.Answered,
		Answer: q.Answer, By: q.By, To: q.To, Withdrawn: q.Withdrawn, RunOnly: q.RunOnly,
		Form: form(q.Form), Deadline: stamp(q.Deadline), ByDefault: q.ByDefault, Used: q.Used}
}

// ToQuestion decodes a question.
func ToQuestion(p *pb.Question) instance.Question {
	return instance.Question{Number: int(p.GetNumber()), From: p.GetFrom(), Text: p.GetText(), AskedAt: toTime(p.GetAskedAt()),
		Answered: p.GetAnswered(), Answer: p.GetAnswer(), By: p.GetBy(), To: p.GetTo(), Withdrawn: p.GetWithdrawn(), RunOnly: p.GetRunOnly(),
		Form: toForm(p.GetForm()), Deadline: toTime(p.GetDeadline()), ByDefault: p.GetByDefault(), Used: p.GetUsed()}
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

func bundle(b instance.Bundle) *pb.Bundle {
	return &pb.Bundle{Object: b.Object, Head: b.Head, Role: b.Role}
}

func claimant(c *instance.ActiveClaim) *pb.Claimant {
	if c == nil {
		return nil
	}
	return &pb.Claimant{Token: u32(c.Token), Role: c.Role, Agent: c.Agent, At: stamp(c.At), Lease: stamp(c.Lease)}
}

func toVisit(p *pb.Visit) instance.Visit {
	return instance.Visit{State: name(p.GetState()), Count: int(p.GetCount()), Total: p.GetTime().AsDuration()}
}

func toBundle(p *pb.Bundle) instance.Bundle {
	return instance.Bundle{Object: p.GetObject(), Head: p.GetHead(), Role: p.GetRole()}
}

func toClaim(p *pb.Claimant) *instance.ActiveClaim {
	if p == nil {
		return nil
	}
	return &instance.ActiveClaim{
		Token: uint64(p.GetToken()), Role: name(p.GetRole()), Agent: name(p.GetAgent()), At: toTime(p.GetAt()), Lease: toTime(p.GetLease())}
}

func last(r *instance.Result) *pb.Result {
	if r == nil {
		return nil
	}
	return Result(*r)
}

func failure(s instance.Signature) *pb.Failure {
	if s == (instance.Signature{}) {
		return nil
	}
	return &pb.Failure{Signature: s.Value, Repeats: i32(s.Repeats)}
}

// ToEscalations decodes escalations.
func ToEscalations(p []*pb.Escalation) []instance.Escalation { return each(p, toEscalation) }

// ToLinks decodes links.
func ToLinks(p []*pb.Link) []instance.Link { return each(p, toLink) }

func escalation(e instance.Escalation) *pb.Escalation {
	return &pb.Escalation{Number: i32(e.Number), Agent: e.Agent, Reason: e.Reason, RequiresHuman: e.RequiresHuman, At: stamp(e.At),
		Resolved: e.Resolved, Resolution: e.Resolution, By: e.By}
}

func toEscalation(p *pb.Escalation) instance.Escalation {
	return instance.Escalation{Number: int(p.GetNumber()), Agent: p.GetAgent(), Reason: p.GetReason(), RequiresHuman: p.GetRequiresHuman(),
		At: toTime(p.GetAt()), Resolved: p.GetResolved(), Resolution: p.GetResolution(), By: p.GetBy()}
}

func link(l instance.Link) *pb.Link {
	return &pb.Link{Instance: l.Instance, Kind: string(l.Kind), Workflow: l.Workflow, State: l.State, Ended: l.Ended, Well: l.Well}
}

func toLink(p *pb.Link) instance.Link {
	return instance.Link{Instance: p.GetInstance(), Kind: instance.LinkKind(p.GetKind()), Workflow: p.GetWorkflow(), State: p.GetState(),
		Ended: p.GetEnded(), Well: p.GetWell()}
}

func parked(p *instance.Parked) *pb.Parked {
	if p == nil {
		return nil
	}
	return &pb.Parked{Until: stamp(p.Until), Reason: p.Reason, Standing: p.Standing, WaitsFor: string(p.WaitsFor)}
}

// ToParked decodes why, and for how long, the owner has nothing to do.
func ToParked(p *pb.Parked) *instance.Parked {
	if p == nil {
		return nil
	}
	return &instance.Parked{Until: toTime(p.GetUntil()), Reason: p.GetReason(), Standing: p.GetStanding(), WaitsFor: instance.Wait(name(p.GetWaitsFor()))}
}

func failures(all []instance.FailureCount) map[string]int32 {
	var counts map[string]int32
	for _, f := range all {
		if counts == nil {
			counts = map[string]int32{}
		}
		counts[f.State] = i32(f.Count)
	}
	return counts
}
