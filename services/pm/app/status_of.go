package app

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/agent/triage"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/standing"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// statusOf returns how an instance stands. def is its lifecycle, nil if it is unknown.
// rest is what its commits tell of.
func statusOf(in *pb.Instance, def *workflow.Definition, moves []rules.Move, rest instance.Rest) rules.Status {
	s := rules.Status{
		Instance: in.GetInstance(), Phase: phaseOf(in, def), State: in.GetState(), Since: in.GetEnteredAt().AsTime(), Reason: in.GetReason(),
		Pull: pullOf(in), Cost: wire.ToCost(in.GetSpend()), Moves: moves,
	}
	s.Proof = instance.ProofOf(wire.ToEvidence(in.GetEvidence()), in.GetBase(), in.GetHead()).Sentence()
	if def != nil {
		state, _ := def.State(in.GetState())
		s.About = def.Text(state.About)
	}
	for _, l := range in.GetLinks() {
		if l.GetKind() == string(instance.Child) {
			s.Parts++
			if l.GetEnded() {
				s.Ended++
			}
		}
	}
	for _, n := range in.GetNotes() { // the newest comes last
		if n.GetKind() == triage.Note {
			s.Kind, s.Repeats = kindOf(n.GetText())
		}
	}
	if s.Over() {
		return s
	}
	for _, r := range standing.Of(wire.ToInstance(in), standing.Past{Rest: rest}, in.GetUpdatedAt().AsTime()) {
		switch r.Kind {
		case standing.Place, standing.Budget:
			s.Held = r.Sentence(standing.Clock{})
		case standing.Resting:
			s.Held = instance.Rest{Until: r.Until, Reason: r.Text}.Sentence(r.Role, "until "+rules.Moment(r.Until))
		default:
			s.Waits = append(s.Waits, waitsFor(r, in.GetUpdatedAt().AsTime())...)
		}
	}
	if s.Phase == rules.Waiting {
		s.Held = "" // people come first
	}
	if c := in.GetClaim(); c != nil {
		s.Role, s.Agent, s.Taken = c.GetRole(), c.GetAgent(), c.GetAt().AsTime()
	} else if s.Phase == rules.Working {
		s.Role = in.GetWorker()
	}
	return s
}

// phaseOf is Waiting while a person has to act.
func phaseOf(in *pb.Instance, def *workflow.Definition) rules.Phase {
	switch closed := in.GetClosed(); {
	case closed == string(instance.Cancelled):
		return rules.Cancelled
	case closed != "" && (in.GetFailed() || def != nil && def.EndsInFailure(in.GetState())):
		return rules.Failed
	case closed != "":
		return rules.Done
	case in.GetPaused() || needsPeople(in):
		return rules.Waiting
	}
	return rules.Working
}

// soon is how long a park may last whose end is not shown. Otherwise its comment would be
// edited each minute.
const soon = 10 * time.Minute

// waitsFor lists the things and people that a reason waits for. now is when the instance changed.
func waitsFor(r standing.Reason, now time.Time) (all []string) {
	why := ""
	if r.Text != "" {
		why = ": " + r.Text
	}
	switch other, issues := strings.CutPrefix(r.Text, instance.ForIssues); {
	case r.Kind == standing.Paused && issues:
		all = append(all, other+", or for a person to resume it")
	case r.Kind == standing.Paused:
		all = append(all, "a person to resume it"+why)
	case r.Kind == standing.Escalated:
		all = append(all, "a person, as the "+r.Agent+" asks"+why)
	case r.Kind == standing.People && len(r.Questions) > 0:
		var names []string
		for _, n := range r.Questions {
			names = append(names, fmt.Sprintf("Q%d", n))
		}
		all = append(all, "answers to "+strings.Join(names, ", "))
	case r.Kind == standing.People:
		all = append(all, "people"+why)
	case r.Kind == standing.After:
		for _, o := range r.Others {
			all = append(all, o.Instance)
		}
	case r.Kind != standing.Parked:
	case !r.Until.IsZero() && r.Text != "" && r.Until.Sub(now) < soon:
		all = append(all, r.Text)
	case !r.Until.IsZero():
		all = append(all, rules.Moment(r.Until)+why)
	default:
		all = append(all, "something to happen"+why)
	}
	return all
}

// restOf returns the rest after more commits.
func restOf(before instance.Rest, commits []*pb.Record) instance.Rest {
	for _, c := range commits {
		before = before.With(wire.Recorded(c).Events)
	}
	return before
}

// pullOf is the number of the pull request, 0 if there is none.
func pullOf(in *pb.Instance) int {
	data := in.GetLastResult().GetData()
	n, _ := strconv.Atoi(cmp.Or(in.GetVars()["prNumber"], data["pr_number"], data["prNumber"]))
	return n
}

// movesOf adds the moves of the commits to those before, and keeps the last few.
func movesOf(before []rules.Move, commits []*pb.Record) []rules.Move {
	for _, c := range commits {
		for _, e := range wire.Recorded(c).Events {
			switch e := e.(type) {
			case instance.Opened:
				before = append(before, rules.Move{At: c.GetTime().AsTime(), To: e.State})
			case instance.Moved:
				before = append(before, rules.Move{At: c.GetTime().AsTime(), From: e.From, To: e.To, Reason: e.Reason})
			}
		}
	}
	return before[max(0, len(before)-rules.MaxMoves):]
}
