package rules

import (
	"slices"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// IsComment reports whether a note is what a person said on the forge.
func IsComment(n instance.NoteEntry) bool { return isComment(n) && !ours(n.Text) }

// Reading returns what a brain made of what people said, as the PM by rule reports it.
// Answers that the rules found in numbered or quoted words stay; the brain adds to them.
// It takes from the brain only answers, Word, and Heard if that is Nothing.
func Reading(a brain.Assignment, byRule, byBrain instance.Result) instance.Result {
	r := instance.Result{Status: instance.Success, ConfidenceScore: byBrain.ConfidenceScore, Summary: byBrain.Summary, Spend: byBrain.Spend,
		Answers: byRule.Answers}
	if r.Summary == "" {
		r.Summary = byRule.Summary
	}
	found := map[int]bool{}
	for _, answer := range byRule.Answers {
		found[answer.Question] = true
	}
	for _, answer := range byBrain.Answers {
		i := slices.IndexFunc(openOf(a.Questions), func(q instance.Question) bool { return q.Number == answer.Question })
		if i < 0 || found[answer.Question] {
			continue
		}
		if _, why := fit(openOf(a.Questions)[i], answer); why == "" {
			r.Answers = append(r.Answers, answer)
		}
	}
	nothing := byBrain.Data[Heard] == Nothing && len(r.Answers) == 0
	if a.Work.Does == workflow.ReadAnswers {
		switch {
		case nothing:
			r.Data = map[string]string{Heard: Nothing}
		case toOpen(a, r.Answers) < len(openOf(a.Questions)):
			r.Next = askedFrom(a)
		}
		return r
	}
	switch word := byBrain.Data[Word]; {
	case nothing:
		r.Status, r.Data = instance.Failure, map[string]string{Heard: Nothing}
	case word == Yes:
		r.Data, r.Next = map[string]string{Word: Yes, Of: asker(a)}, propose(a, asker(a))
	case word == No || word == Wish:
		r.Data = map[string]string{Word: word, Of: asker(a)}
	default:
		r.Status, r.Data, r.Next = byRule.Status, byRule.Data, byRule.Next
	}
	return r
}
