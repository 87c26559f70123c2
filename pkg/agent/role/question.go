package role

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// asksPeople begins what people are told of questions that the work waits for.
const asksPeople = "asks before it goes on: "

// waits has the work wait for the answers to questions that a result has beside its
// success. An analysis whose lifecycle has a threshold is unsure by it: it is blocked. Who
// leaves code or tests holds the state, so that they are kept. Where others are judged,
// and where it was asked before, nobody waits: the questions are noted.
func (s step) waits(ctx context.Context, out brain.Outcome) brain.Outcome {
	r := &out.Result
	if len(r.Questions) == 0 || r.Status != instance.Success || out.Pauses() || rules.Free(s.think) {
		return out
	}
	threshold, analyses := s.job.Policy["confidence_threshold"].(float64)
	writes := s.asks.WritesCode() || s.asks.Does == workflow.WriteTests
	reason := s.job.Role + " " + asksPeople + strings.Join(r.Questions, "\n")
	switch {
	case s.job.Question != nil || s.asks.Tests() || s.asked(reason):
		for _, q := range r.Questions {
			if err := s.job.Note(ctx, "question", printable(q)); err != nil {
				s.job.Progress("a question is lost: %v", err)
			}
		}
		r.Questions = nil
	case writes:
		out.Escalate = &brain.Escalation{Reason: reason, RequiresHuman: true}
		r.Questions = nil
	case analyses && r.ConfidenceScore >= threshold:
		r.Status = instance.Blocked
		r.IssuesFound = append(slices.Clip(r.IssuesFound), fmt.Sprintf("%d questions are open, so it is not done", len(r.Questions)))
	}
	return out
}

// asked reports whether people have answered these very questions.
func (s step) asked(reason string) bool {
	return slices.ContainsFunc(s.job.Escalations, func(e instance.Escalation) bool { return e.Resolved && e.Reason == printable(reason) })
}
