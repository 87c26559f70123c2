package app

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/base/sanitize"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/standing"
	"github.com/signalbox/signalbox/pkg/engine/wire"
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
	all := standing.Explain(def, wire.ToInstance(in), standing.Past{}, now)
	s.Why = o.why(all.Reasons[0], now)
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
	s.Next = all.Next
	for _, r := range all.Signals {
		s.Moves = append(s.Moves, moves(sanitize.Code(r.Name), r))
	}
	for _, r := range all.Results {
		s.Moves = append(s.Moves, moves("a result", r))
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
func moves(by string, r standing.Rule) string {
	text := by + " leads to " + strings.Join(r.To, " or ")
	switch {
	case r.People:
		text = by + " has people asked"
	case len(r.To) == 0:
		text = by + " has it looked at again"
	}
	if r.Reason != "" {
		text += ": " + r.Reason
	}
	return text
}

// why states a reason, and the command that people can give in a comment.
func (o order) why(r standing.Reason, now time.Time) string {
	text := r.Sentence(standing.Clock{Now: now, Span: func(d time.Duration) string { return cmp.Or(rules.Span(d), "less than a minute") }})
	switch r.Kind {
	case standing.Escalated:
		text += " Comment " + o.hint(command.Answer+" TEXT") + "."
	case standing.Paused:
		text += " Comment " + o.hint(command.Resume) + "."
	}
	return text
}
