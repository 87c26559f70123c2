package rules

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/workflow"
)

// ErrEffect says that a state asks for an action that is no judgement by rule: the
// PM's service makes effects outside, and knows no other action.
var ErrEffect = errors.New("the PM cannot judge this by rule")

// PM judges what the PM has to judge by rule: it takes up what has a title,
// reads answers out of comments and a decision out of what people said.
type PM struct {
	// MayAnswer tells whose comments count; nil: everybody's.
	MayAnswer func(login string) bool
}

// Work implements brain.Brain. It does what the state asks for; for any action
// that is no judgement it fails with ErrEffect.
func (p PM) Work(_ context.Context, a brain.Assignment) (brain.Outcome, error) {
	switch a.Work.Does {
	case workflow.TakeUp:
		return declared(takeUp(a)), nil
	case workflow.AskQuestions:
		return declared(askQuestions(a)), nil
	case workflow.ReadAnswers:
		return declared(p.readAnswers(a)), nil
	case workflow.Plan:
		return declared(instance.Result{Status: instance.Success, ConfidenceScore: 1, Summary: "Tests first, then the change."}), nil
	case workflow.ReadDecision:
		return declared(p.readDecision(a)), nil
	case workflow.AskForHelp:
		return declared(askForHelp(a)), nil
	}
	return brain.Outcome{}, fmt.Errorf("%w: %q, in %s", ErrEffect, a.Work.Does, a.State)
}

func takeUp(a brain.Assignment) instance.Result {
	if strings.TrimSpace(a.Issue.Title) == "" {
		return instance.Result{Status: instance.Failure, Summary: "The report has no title."}
	}
	return instance.Result{Status: instance.Success, ConfidenceScore: 1, Summary: "Taken up."}
}

// askQuestions says whether asking people can help.
func askQuestions(a brain.Assignment) instance.Result {
	if n := len(openOf(a.Questions)); n > 0 {
		return instance.Result{Status: instance.Success, ConfidenceScore: 1, Summary: fmt.Sprintf("Open questions: %d.", n)}
	}
	r := instance.Result{Status: instance.Blocked, Summary: "The analysis is unsure and asks nothing."}
	if a.Last != nil && a.Last.Summary != "" {
		r.Summary, r.IssuesFound = a.Last.Summary, a.Last.IssuesFound
	}
	return r
}

// readAnswers reads the answers. Where a person answered everything at once or
// does not know, the analyst looks at it again.
func (p PM) readAnswers(a brain.Assignment) instance.Result {
	r := instance.Result{Status: instance.Success, ConfidenceScore: 1, Answers: p.Answers(a)}
	open := len(openOf(a.Questions)) - len(r.Answers)
	sure := open == 0
	var numbers []string
	for _, answer := range r.Answers {
		numbers = append(numbers, fmt.Sprintf("Q%d", answer.Question))
		sure = sure && !strings.HasPrefix(answer.Text, ToAll) && !dunno.MatchString(answer.Text)
	}
	r.Summary = "Answered: " + List(numbers) + "."
	if open > 0 {
		r.Summary += fmt.Sprintf(" Still open: %d.", open)
	}
	if !sure {
		r.ConfidenceScore = 0.5
		r.Next = propose(a, "analyzing_requirements")
	}
	return r
}

// Answers reads the comments since the oldest open question was asked. What
// names its question counts more than what does not.
func (p PM) Answers(a brain.Assignment) []instance.QuestionAnswer {
	open := openOf(a.Questions)
	if len(open) == 0 {
		return nil
	}
	found := map[int]instance.QuestionAnswer{}
	for _, n := range p.heardSince(a, open[0].AskedAt) {
		for _, answer := range ParseAnswers(n.Text, a.Questions) {
			answer.By = n.Author
			found[answer.Question] = both(found[answer.Question], answer)
		}
	}
	var answers []instance.QuestionAnswer
	for _, q := range open {
		if answer, ok := found[q.Number]; ok {
			answers = append(answers, answer)
		}
	}
	return answers
}

// both is an answer with one that came later.
func both(before, after instance.QuestionAnswer) instance.QuestionAnswer {
	text, vague := strings.CutPrefix(after.Text, ToAll)
	switch wasVague := strings.HasPrefix(before.Text, ToAll); {
	case before.Text == "" || wasVague && !vague:
		return after
	case vague && !wasVague:
		return before
	}
	before.Text += "\n\n" + text
	if !slices.Contains(strings.Split(before.By, ", "), after.By) {
		before.By += ", " + after.By
	}
	return before
}

// heardSince lists the comments that count and were not read before: free text
// whose words are an answer already was. What numbers its answers is read again,
// for it may hold more of them: what is answered stays answered.
func (p PM) heardSince(a brain.Assignment, since time.Time) (notes []instance.NoteEntry) {
	for _, n := range a.Notes {
		counts := isComment(n) && !ours(n.Text) && !n.At.Before(since) && (p.MayAnswer == nil || p.MayAnswer(n.Author))
		if counts && !slices.ContainsFunc(a.Questions, func(q instance.Question) bool {
			text := strings.TrimPrefix(q.Answer, ToAll)
			return q.Answered && text != "" && q.By == n.Author && !numbers.MatchString(n.Text) && strings.Contains(title(n.Text), title(text))
		}) {
			notes = append(notes, n)
		}
	}
	return notes
}

var (
	numbers = regexp.MustCompile(`(?mi)^[\s>*_]*(?:q\s*\d+\b|\d+\s*[.):])`)
	assent  = regexp.MustCompile(`(?i)^\W*(/approve\b|lgtm\b|approved?\b|yes\b|ok(ay)?\b|go ahead|please do|sounds good|ship it|👍)`)
	dissent = regexp.MustCompile(`(?i)\b(but|not yet|don.?t|do not|wait|however|except|first)\b`)
)

// readDecision reads what people said when they were asked for their word.
func (p PM) readDecision(a brain.Assignment) instance.Result {
	r := instance.Result{Status: instance.Success, ConfidenceScore: 1, Answers: p.Answers(a)}
	var said instance.NoteEntry
	for _, n := range p.heardSince(a, time.Time{}) {
		said = n
	}
	text := oneLine(plain(said.Text))
	if text == "" {
		r.Status, r.ConfidenceScore, r.Summary = instance.Failure, 0, "Nobody has said anything that counts."
		return r
	}
	r.Summary = fmt.Sprintf("%s says: %s", said.Author, excerpt(text))
	if assent.MatchString(text) && !dissent.MatchString(text) {
		// What waited for the word goes on where it stopped.
		if n := len(a.Previous); n > 1 {
			r.Next = propose(a, a.Previous[n-2])
		}
	}
	return r
}

// askForHelp asks people once; what is in the way a second time is theirs.
func askForHelp(a brain.Assignment) instance.Result {
	if a.Attempt > 1 {
		return instance.Result{Status: instance.Blocked, Summary: "It is blocked again after people were asked."}
	}
	r := instance.Result{Status: instance.Success, ConfidenceScore: 1, Summary: "People are asked what should happen."}
	if a.Last != nil && a.Last.Summary != "" {
		r.Summary = a.Last.Summary
	}
	return r
}

// propose names the state if the result may name it.
func propose(a brain.Assignment, state string) string {
	if slices.Contains(a.Next, state) {
		return state
	}
	return ""
}
