package app

import (
	"context"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// think has the PM's brain read what people said, if it has one. byRule is what the rules
// make of it, which stands where the brain says nothing, or fails.
func (h *handler) think(ctx context.Context, job agent.Job, byRule instance.Result, may func(login string) bool) (instance.Result, error) {
	if a := job.Work.Does; a != workflow.ReadAnswers && a != workflow.ReadDecision {
		return byRule, nil
	}
	b, err := h.brains.Permitted(job.State, job.Work, job.Issue.Configured())
	if err != nil { // it has none that may work
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

// toWord tells a brain what it is asked for where questions are put to people.
const toWord = "Word the open questions for the people who read them: the question, its reason, and the form of an answer. " +
	"The result's questions are one text for each open question, in their order; nothing else of it counts."

// word returns the assignment with its open questions as the PM's brain words them. As
// they are they stay where there is no brain, it fails, or it words not each of them.
func (h *handler) word(ctx context.Context, job agent.Job) (brain.Assignment, instance.Cost, error) {
	a := job.Assignment
	b, err := h.brains.Permitted(job.State, job.Work, job.Issue.Configured())
	if err != nil { // it has none that may work
		return a, instance.Cost{}, nil
	}
	asked := a
	asked.About = toWord
	out, err := b.Work(ctx, asked)
	if ctx.Err() != nil {
		return a, out.Result.Spend, ctx.Err()
	}
	texts := out.Result.Questions
	blank := func(s string) bool { return strings.TrimSpace(s) == "" }
	if err != nil || len(texts) != len(job.Open()) || slices.ContainsFunc(texts, blank) {
		h.log.Warn("the brain did not word each question; they are put as they are", "instance", job.Instance, "state", job.State, "error", err,
			"questions", len(job.Open()), "worded", len(texts))
		return a, out.Result.Spend, nil
	}
	a.Questions = slices.Clone(a.Questions)
	for i, q := range a.Questions {
		if q.To == "" && !q.Answered {
			a.Questions[i].Text, texts = texts[0], texts[1:]
		}
	}
	return a, out.Result.Spend, nil
}
