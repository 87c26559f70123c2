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
	s.Waits = waitsOf(in)
	switch {
	case in.GetPaused() || needsPeople(in):
	case in.GetParked().GetWaitsFor() != "":
		s.Held = wire.ToParked(in.GetParked()).Sentence()
	case !rest.Until.IsZero() && in.GetParked() == nil && in.GetClaim() == nil && in.GetWorker() != "":
		s.Held = rest.Sentence(in.GetWorker(), "until "+rules.Moment(rest.Until))
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

// waitsOf lists what an instance waits for.
func waitsOf(in *pb.Instance) (all []string) {
	add := func(what, why string) {
		if why != "" {
			what += ": " + why
		}
		all = append(all, what)
	}
	if other, waits := strings.CutPrefix(in.GetReason(), instance.ForIssues); in.GetPaused() && waits {
		add(other+", or for a person to resume it", "")
	} else if in.GetPaused() {
		add("a person to resume it", in.GetReason())
	}
	for _, e := range in.GetEscalations() {
		if e.GetRequiresHuman() && !e.GetResolved() {
			add("a person, as the "+e.GetAgent()+" asks", e.GetReason())
		}
	}
	var open []string
	for _, q := range in.GetQuestions() {
		if q.GetTo() == "" && !q.GetAnswered() {
			open = append(open, fmt.Sprintf("Q%d", q.GetNumber()))
		}
	}
	switch waits := in.GetKind() == string(workflow.Wait) && in.GetWorker() == ""; {
	case waits && len(open) > 0:
		add("answers to "+strings.Join(open, ", "), "")
	case waits:
		add("people", in.GetReason())
	}
	for _, l := range in.GetLinks() {
		if l.GetKind() == string(instance.After) && (!l.GetEnded() || !l.GetWell()) {
			add(l.GetInstance(), "")
		}
	}
	switch p := in.GetParked(); {
	case p == nil || p.GetWaitsFor() != "": // Held says it
	case p.GetUntil() != nil && p.GetReason() != "" && p.GetUntil().AsTime().Sub(in.GetUpdatedAt().AsTime()) < soon:
		add(p.GetReason(), "")
	case p.GetUntil() != nil:
		add(rules.Moment(p.GetUntil().AsTime()), p.GetReason())
	default:
		add("something to happen", p.GetReason())
	}
	return all
}

// restOf returns the rest after more commits.
func restOf(before instance.Rest, commits []*pb.Record) instance.Rest {
	for _, c := range commits {
		before = before.After(wire.Recorded(c).Events)
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
