package app

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/base/sanitize"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/forge/command"
)

// status describes the state of the instance, and, to explain, the event that would move it.
func (o order) status(ctx context.Context, explain bool) (string, error) {
	def, err := o.definition(ctx)
	if err != nil {
		return "", err
	}
	in, now := o.of.in, o.now()
	state, _ := def.State(in.GetState())
	s := rules.StatusAnswer{Instance: in.GetInstance(), Workflow: in.GetWorkflow(), State: in.GetState(), About: state.About, Pull: o.of.pull,
		Cost: wire.ToCost(in.GetSpend()), Explain: explain}
	since := in.GetEnteredAt().AsTime()
	s.Why, since = o.why(since)
	if !since.IsZero() && now.Sub(since) >= time.Minute {
		s.For = now.Sub(since)
	}
	if in.GetClosed() != "" {
		return s.Text(), nil
	}
	for _, q := range wire.ToQuestions(in.GetQuestions()) {
		if q.To == "" && !q.Answered {
			s.Open = append(s.Open, q)
		}
	}
	if !explain {
		return s.Text(), nil
	}
	if last := wire.ToResult(in.GetLastResult()); last.Status != "" && last.Status != instance.Success {
		s.Failed = fmt.Sprintf("%s in %s: %s", last.Status, in.GetLastState(), last.Summary)
	}
	s.Gates = gatesMissing(in, gatesSeen(in))
	for _, t := range state.Next {
		s.Next = append(s.Next, t.To)
	}
	for _, name := range slices.Sorted(maps.Keys(state.On)) {
		for _, r := range state.On[name] {
			s.Moves = append(s.Moves, moves(def, sanitize.Code(name), r))
		}
	}
	for _, r := range state.Decide {
		s.Moves = append(s.Moves, moves(def, "a result", r))
	}
	if len(s.Moves) > maxMoves {
		more := len(s.Moves) - maxMoves
		s.Moves = append(s.Moves[:maxMoves:maxMoves], fmt.Sprintf("and %d more: signalbox explain %s", more, in.GetInstance()))
	}
	return s.Text(), nil
}

// maxMoves is how many rules a comment lists.
const maxMoves = 8

// moves describes a rule.
func moves(def *workflow.Definition, by string, r workflow.Rule) string {
	text := by + " leads to " + strings.Join(r.To, " or ")
	switch {
	case r.Escalate:
		text = by + " has people asked"
	case len(r.To) == 0:
		text = by + " has it looked at again"
	}
	if why := def.Text(r.Reason); why != "" {
		text += ": " + why
	}
	return text
}

// why says what the instance does or waits for, and since when; zero: that says nothing.
func (o order) why(entered time.Time) (string, time.Time) {
	in, none := o.of.in, time.Time{}
	for _, e := range in.GetEscalations() {
		if in.GetClosed() == "" && !in.GetPaused() && e.GetRequiresHuman() && !e.GetResolved() {
			return fmt.Sprintf("The %s put it to people: %s It goes on when a person says what should happen: %s.", e.GetAgent(),
				rules.Sentence(e.GetReason()), o.hint(command.Answer+" TEXT")), e.GetAt().AsTime()
		}
	}
	claim := in.GetClaim()
	switch {
	case in.GetClosed() == string(instance.Cancelled):
		return "It was cancelled: " + rules.Sentence(in.GetReason()) + " Nothing moves it any more.", none
	case in.GetClosed() != "":
		return "It has ended: " + rules.Sentence(in.GetReason()) + " Nothing moves it any more.", none
	case in.GetPaused():
		return fmt.Sprintf("It is paused: %s Nobody is given its work until %s.", rules.Sentence(in.GetReason()), o.hint(command.Resume)), none
	case in.GetParked().GetWaitsFor() != "":
		return wire.ToParked(in.GetParked()).Sentence(), entered
	case in.GetParked() != nil:
		return "It waits: " + rules.Sentence(in.GetParked().GetReason()) + " A signal may end that before.", entered
	case in.GetKind() == string(workflow.Wait) && in.GetReason() != "":
		return "It waits for people: " + rules.Sentence(in.GetReason()), entered
	case in.GetKind() == string(workflow.Wait):
		return "It waits for people.", entered
	case claim != nil && claim.GetLease().AsTime().After(o.now()):
		return claim.GetAgent() + " works on it.", claim.GetAt().AsTime()
	case claim != nil:
		return claim.GetAgent() + " took it and went silent; the next " + claim.GetRole() + " that is free gets it.", none
	}
	return fmt.Sprintf("Nobody has taken the work yet: no %s runs, or all have other work.", in.GetWorker()), entered
}
