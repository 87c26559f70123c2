package rules

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// ErrEffect means that a state asks for an action that is no judgement by rule. The PM's
// service makes effects outside, and knows no other action.
var ErrEffect = errors.New("the PM cannot judge this by rule")

// PM judges what the PM has to judge by rule. It takes up what has a title, and reads
// answers and decisions out of comments.
type PM struct {
	// MayAnswer tells whose comments count; nil: everybody's.
	MayAnswer func(login string) bool
	Self      string // our own login; may be empty
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

// askQuestions reports whether asking people can help.
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

// Heard is the name, in the data of a result, of what the PM made of people's words. It is
// Nothing if they were remarks only. Word is that of what they decided.
const (
	Heard   = "heard"
	Nothing = "nothing"
	Word    = "word"
	Yes     = "yes"
	No      = "no"
	Wish    = "wish" // neither: it is to be worked in
	Of      = "of"   // the state that asked for the word
)

// readAnswers reads the answers. Where a person does not know, or says what answers no
// question, the state that they were asked from looks at it again. Remarks leave the questions as they are.
func (p PM) readAnswers(a brain.Assignment) instance.Result {
	r := instance.Result{Status: instance.Success, ConfidenceScore: 1, Answers: p.Answers(a)}
	open := len(openOf(a.Questions)) - toOpen(a, r.Answers)
	sure := open == 0
	var numbers []string
	for _, answer := range r.Answers {
		numbers = append(numbers, fmt.Sprintf("Q%d", answer.Question))
		sure = sure && !leavesOpen(answer.Text)
	}
	if open > 0 && len(r.Answers) == 0 && !p.asksForAnalysis(a) {
		r.Summary, r.Data = "The comment answers no question; the questions stay open.", map[string]string{Heard: Nothing}
		return r
	}
	r.Summary = "Answered: " + List(numbers) + "."
	if open > 0 {
		r.Summary += fmt.Sprintf(" Still open: %d.", open)
	}
	if !sure {
		r.ConfidenceScore = 0.5
		r.Next = askedFrom(a)
	}
	return r
}

// asksForAnalysis reports whether what was said and names no question is worth another look:
// the reporter's words, an edit of the report, and the first words of others after the questions.
func (p PM) asksForAnalysis(a brain.Assignment) bool {
	first := true
	for _, n := range p.heardSince(a, time.Time{}) {
		if Remark(n.Text, p.Self) {
			continue
		}
		since := slices.ContainsFunc(openOf(a.Questions), func(q instance.Question) bool { return !n.At.Before(q.AskedAt) })
		if !n.At.Before(a.Entered) && (!since || first || a.Issue.Author == "" || n.Author == a.Issue.Author || strings.HasPrefix(n.Text, NowReads)) {
			return true
		}
		first = first && !since
	}
	return false
}

// Answers reads the comments since the oldest open question was asked. A text
// that names its question counts more than one that does not.
func (p PM) Answers(a brain.Assignment) []instance.QuestionAnswer {
	answers, _ := p.answers(a)
	return answers
}

// answers also returns those words that answer no question, though they name it.
func (p PM) answers(a brain.Assignment) (answers []instance.QuestionAnswer, unfit []Unfit) {
	open := openOf(a.Questions)
	if len(open) == 0 {
		return nil, nil
	}
	found, byName := map[int]instance.QuestionAnswer{}, map[int]bool{}
	wrong := map[int]Unfit{}
	said := false
	for _, n := range p.heardSince(a, open[0].AskedAt) {
		if Remark(n.Text, p.Self) {
			continue
		}
		// The first words after the questions may be an answer without a name, as may those of
		// the reporter, who is asked. Only words that are new change what was answered.
		fresh := !n.At.Before(a.Entered)
		answers, named := parseAnswers(n.Text, a.Questions, !said || a.Issue.Author == "" || n.Author == a.Issue.Author, fresh)
		said = true
		for _, answer := range answers {
			answer.By = n.Author
			q := a.Questions[slices.IndexFunc(a.Questions, func(q instance.Question) bool { return q.Number == answer.Question })]
			fits, why := fit(q, answer)
			switch before := found[answer.Question]; {
			case why != "":
				if fresh {
					wrong[q.Number] = Unfit{q, why}
				}
				continue
			case q.Answered && q.Answer == fits.Text:
				continue
			case q.Kind != "", q.Answered, named && !byName[answer.Question]: // it counts more than what was said before
				found[answer.Question] = fits
			case named || !byName[answer.Question]:
				found[answer.Question] = both(before, fits)
			}
			delete(wrong, q.Number)
			byName[answer.Question] = byName[answer.Question] || named
		}
	}
	for _, q := range a.Questions {
		if answer, ok := found[q.Number]; ok {
			answers = append(answers, answer)
		}
		if one, ok := wrong[q.Number]; ok {
			unfit = append(unfit, one)
		}
	}
	return answers, unfit
}

// both is an answer with one that came later.
func both(before, after instance.QuestionAnswer) instance.QuestionAnswer {
	if before.Text == "" {
		return after
	}
	before.Text += "\n\n" + after.Text
	if !slices.Contains(strings.Split(before.By, ", "), after.By) {
		before.By += ", " + after.By
	}
	return before
}

// heardSince lists the comments that count and were not read before: free text
// whose words are an answer already was. A comment that numbers its answers is read
// again, for it may hold more of them: an answered question stays answered.
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
	numbers = lazyregexp.New(`(?mi)^[\s>*_]*(?:q\s*\d+\b|\d+\s*[.):])`)
	refusal = lazyregexp.New(`(?i)^\W*(/reject\b|reject(ed)?\b|no(pe)?\b|nah\b|never\b|denied\b|declined?\b|stop\b|(please )?(don.?t|do not)\b|not (approved?|ok(ay)?|acceptable|wanted)\b` +
		`|(i|we) (do not|don.?t) (approve|agree|want)\b|nein\b|abgelehnt\b|nicht (einverstanden|genehmigt|gewollt)\b|(bitte|lieber) nicht\b` +
		`|(ich|wir) (stimmen?|wollen?) (dem |das )?nicht\b|👎)`)
	wish    = lazyregexp.New(`(?i)\b(instead|rather|use|rename|change|fix|rework|redo|should|must|try|add|remove|but|make|sondern|stattdessen|lieber|besser|aber)\b`)
	negated = lazyregexp.New(`(?i)\b(don.?t|do not|never|not|no need to)\s+\w+`)
)

// readDecision reads what people said when they were asked for a decision. A yes lets the
// work go on, a no does not, and remarks decide nothing.
func (p PM) readDecision(a brain.Assignment) instance.Result {
	r := instance.Result{Status: instance.Success, ConfidenceScore: 1, Answers: p.Answers(a)}
	heard := p.heardSince(a, time.Time{})
	if said := p.fresh(a, heard); len(said) > 0 {
		heard = said
	} else if len(r.Answers) == 0 {
		r.Status, r.ConfidenceScore = instance.Failure, 0
		r.Summary, r.Data = "Nobody has said anything that decides.", map[string]string{Heard: Nothing}
		return r
	}
	said := heard[len(heard)-1]
	text := oneLine(plain(said.Text))
	r.Summary = fmt.Sprintf("%s wrote: %s", said.Author, excerpt(text))
	r.Data = map[string]string{Word: Wish, Of: asker(a)}
	switch {
	case assents(said.Text, p.Self):
		r.Data[Word] = Yes
		r.Next = propose(a, asker(a)) // what waited for the word goes on where it stopped
	case refusal.MatchString(text) && !wish.MatchString(negated.ReplaceAllString(text, "")):
		r.Data[Word] = No
	}
	return r
}

// asker is the state that people were asked for, before they were waited for. Comments in
// between that decided nothing have passed these two states as well.
func asker(a brain.Assignment) string {
	for i := len(a.Previous) - 2; i >= 0; i-- {
		if s := a.Previous[i]; s != a.State && s != a.Previous[len(a.Previous)-1] {
			return s
		}
	}
	return ""
}

// askedFrom is the newest earlier state, before people were waited for, that the result may
// propose: what needs the answers decides again.
func askedFrom(a brain.Assignment) string {
	for _, s := range slices.Backward(a.Previous[:max(len(a.Previous)-1, 0)]) {
		if s != a.State && s != a.Previous[len(a.Previous)-1] && slices.Contains(a.Next, s) {
			return s
		}
	}
	return ""
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
