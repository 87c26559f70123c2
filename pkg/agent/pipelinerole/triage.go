package pipelinerole

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/document/pipeline"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/work"
)

// Triage takes an issue up unless its labels say that there is nothing to do. It asks
// people where the report says nothing at all (pipeline lifecycle, triage).
type Triage struct{}

// idle are labels of issues that nobody should work on as they are.
var idle = []string{"question", "discussion", "duplicate", "invalid", "wontfix", "won't fix", "epic", "on hold", "needs design", "support"}

// Work implements brain.Brain.
func (Triage) Work(_ context.Context, a work.Assignment) (work.Outcome, error) {
	if a.Question != nil {
		return rules.CannotAnswer(a), nil
	}
	doc := pipeline.OfAssignment(a)
	t := doc.Triage
	t.Completed, t.ShouldProceed, t.RejectionReason = true, true, nil
	r := instance.Result{
		Status: instance.Success, ConfidenceScore: 1,
		Summary: fmt.Sprintf("Taken up: %s, %s, %s.", doc.Issue.Type, t.Scope, t.Complexity),
	}
	for _, label := range a.Issue.Labels {
		if !slices.Contains(idle, strings.ToLower(strings.NewReplacer("-", " ", "_", " ").Replace(label))) {
			continue
		}
		why := fmt.Sprintf("it is labelled %q", label)
		t.ShouldProceed, t.RejectionReason, r.Summary = false, &why, why
	}
	if t.ShouldProceed && empty(a) {
		r.Status, r.ConfidenceScore = instance.Blocked, 0
		r.Summary = "the report is only a title: what happens, and what should?"
	}
	return wrote(r, "triage", t)
}

// empty reports whether there is nothing to go by, in the report or in what
// people said since.
func empty(a work.Assignment) bool {
	return strings.TrimSpace(a.Issue.Body) == "" && len(strings.Fields(a.Issue.Title)) < 4 && len(rules.Said(a)) == 0
}
