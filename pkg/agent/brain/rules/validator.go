package rules

import (
	"context"
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// Validator approves the approach to a task as far as that can be seen before there is one.
// There is code, and words for what is wanted (task lifecycle, planning). It rejects a task
// that has not, and says what it lacks.
type Validator struct{}

// telling is how many words a title has to have that stands alone.
const telling = 3

// Work implements brain.Brain.
func (Validator) Work(_ context.Context, a brain.Assignment) (brain.Outcome, error) {
	if a.Question != nil {
		return CannotAnswer(a), nil
	}
	words := len(strings.Fields(a.Issue.Body))
	for _, n := range a.Notes {
		if isComment(n) && !ours(n.Text) {
			words += len(strings.Fields(n.Text))
		}
	}
	var lacks []string
	if a.Dir == "" || a.Base == "" {
		why := "the task names no repository"
		if a.Issue.Repo != "" {
			why = a.Issue.Repo + " could not be read"
		}
		lacks = append(lacks, "there is no code to change: "+why)
	}
	if words == 0 && len(strings.Fields(a.Issue.Title)) < telling {
		lacks = append(lacks, fmt.Sprintf("nothing describes %q: what is to be done, and when is it done?", a.Issue.Title))
	}
	if len(lacks) > 0 {
		return declared(instance.Result{
			Status: instance.Failure, Summary: "Rejected: " + Sentence(strings.Join(lacks, "; ")), IssuesFound: lacks,
		}), nil
	}
	r := instance.Result{Status: instance.Success, ConfidenceScore: reliance}
	r.Summary = fmt.Sprintf("There is code, at %s, and a description of %d words.",
		code(short(a.Head)), words+len(strings.Fields(a.Issue.Title)))
	if p, err := plan(a.Dir); err == nil {
		r.Summary += " " + code(p.Command()) + " tests it."
	} else {
		r.IssuesFound = []string{"nothing tests this code: " + err.Error()}
		r.Summary += " Nothing tests it yet: the self-checks cannot pass before something does."
	}
	return declared(r), nil
}
