package rules

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// Unfit is a question with words for it that are no answer.
type Unfit struct {
	Question instance.Question
	Why      string // with the permitted answers
}

// fit returns an answer that fits its question, or why none is. A person who leaves a question to us
// answers it with its default.
func fit(q instance.Question, answer instance.QuestionAnswer) (fits instance.QuestionAnswer, why string) {
	if q.Used && q.Answered {
		if kept, err := q.Form.Answer(q.Text, answer.Text); err != nil || kept == q.Answer {
			return answer, ""
		}
		return answer, fmt.Sprintf("it was answered with “%s”, and an agent works with that already. A comment without `Q%d:` reaches the next role.",
			excerpt(q.Form.Value(q.Answer)), q.Number)
	}
	if q.Kind == "" {
		return answer, ""
	}
	_, err := q.Form.Answer(q.Text, answer.Text)
	switch {
	case err == nil:
		return answer, ""
	case q.Default != "" && leavesOpen(answer.Text):
		return instance.QuestionAnswer{Question: q.Number, Text: q.Default}, ""
	}
	return answer, "no permitted answer in “" + excerpt(oneLine(answer.Text)) + "”. Permitted: " + strings.Join(q.Permitted(), ", ") + "."
}

// Unfitting are the words of people for questions that are no answer to them, and that the result does
// not answer either.
func (p PM) Unfitting(a brain.Assignment, r instance.Result) []Unfit {
	byRule, all := p.answers(a)
	has := func(answers []instance.QuestionAnswer, number int) bool {
		return slices.ContainsFunc(answers, func(answer instance.QuestionAnswer) bool { return answer.Question == number })
	}
	return slices.DeleteFunc(all, func(u Unfit) bool { // a brain has read an answer in them
		return has(r.Answers, u.Question.Number) && !has(byRule, u.Question.Number)
	})
}

// Check reports which words of a reply to questions are no answer; empty: none. It reads the reply as
// the PM does.
func Check(body string, questions []instance.Question) (unfit []Unfit) {
	answers, _ := parseAnswers(body, questions, true, true)
	for _, answer := range answers {
		q := questions[slices.IndexFunc(questions, func(q instance.Question) bool { return q.Number == answer.Question })]
		if _, why := fit(q, answer); why != "" {
			unfit = append(unfit, Unfit{q, why})
		}
	}
	return append(unfit, unknown(body, questions)...)
}

// unknown returns the numbers that a reply names and no question to people has. An answer below one would
// reach no question.
func unknown(body string, questions []instance.Question) (unfit []Unfit) {
	texts, _ := addressed(reply(body), questions)
	var open []string
	for _, q := range openOf(questions) {
		open = append(open, fmt.Sprintf("Q%d", q.Number))
	}
	for _, number := range slices.Sorted(maps.Keys(texts)) {
		asked := slices.ContainsFunc(questions, func(q instance.Question) bool { return q.Number == number && q.To == "" })
		if number > 0 && !asked && len(open) > 0 {
			unfit = append(unfit, Unfit{instance.Question{Number: number}, "no question to you has this number. Open: " + strings.Join(open, ", ") + "."})
		}
	}
	return unfit
}

// String names the question and the permitted answers.
func (u Unfit) String() string { return fmt.Sprintf("Q%d: %s", u.Question.Number, u.Why) }

// Unread is the comment that names the permitted answers.
func Unread(all []Unfit) string { return write("unread.md", map[string]any{"All": all}) }

// toOpen counts the answers to questions that are open.
func toOpen(a brain.Assignment, answers []instance.QuestionAnswer) (n int) {
	for _, q := range openOf(a.Questions) {
		if slices.ContainsFunc(answers, func(answer instance.QuestionAnswer) bool { return answer.Question == q.Number }) {
			n++
		}
	}
	return n
}
