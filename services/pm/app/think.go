package app

import (
	"context"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/workflow"
)

// think has the PM's brain read what people said, if it has one. byRule is what the rules
// make of it, which stands where the brain says nothing, or fails.
func (h *handler) think(ctx context.Context, job agent.Job, byRule instance.Result, may func(login string) bool) (instance.Result, error) {
	if a := job.Work.Does; a != workflow.ReadAnswers && a != workflow.ReadDecision {
		return byRule, nil
	}
	b, err := h.brains.For(job.State, job.Work)
	if err != nil { // it has none
		return byRule, nil
	}
	a := job.Assignment
	a.Notes = nil
	for _, n := range job.Notes {
		if !rules.IsComment(n) || may(n.Author) {
			a.Notes = append(a.Notes, n)
		}
	}
	out, err := b.Work(ctx, a)
	if ctx.Err() != nil {
		return byRule, ctx.Err()
	}
	if err != nil || !out.Declared || out.Result.Status != instance.Success {
		h.log.Warn("the brain could not read what people said; the rules do", "instance", job.Instance, "state", job.State, "error", err,
			"said", out.Result.Summary)
		byRule.Spend = out.Result.Spend
		return byRule, nil
	}
	return rules.Reading(a, byRule, out.Result), nil
}
