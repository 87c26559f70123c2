package work

import (
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/pkg/engine/learning"
)

// LearningPolicy returns what the lifecycle says of learnings: one of the values of
// package learning.
func (a Assignment) LearningPolicy() string {
	if value, ok := a.Policy["learnings"]; ok {
		return fmt.Sprint(value)
	}
	return learning.OnlyConfirmed
}

// FitLearnings returns those of a list that the prompt of the assignment gets. changed are
// the files that the work has changed so far.
func (a Assignment) FitLearnings(all []learning.Learning, changed []string) []learning.Learning {
	if a.LearningPolicy() == learning.None {
		return nil
	}
	texts := []string{a.Issue.Title, a.Issue.Body}
	if a.Question != nil {
		texts = append(texts, a.Question.Text)
	}
	if a.Last != nil {
		texts = append(append(texts, a.Last.Summary), a.Last.IssuesFound...)
	}
	return learning.Fit(all, learning.Need{
		Instance: a.Instance, Paths: changed, Text: strings.Join(texts, "\n"), Unconfirmed: a.LearningPolicy() == learning.Auto,
	})
}
