package instance

import (
	"fmt"
	"slices"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/question"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// Answer answers question Number for people, and further ones. It may change an answer that no agent
// works with yet.
type Answer struct {
	Number int // 0: only More counts
	Text   string
	More   []QuestionAnswer
}

// TakeDefaults means that a deadline has passed before which nobody answered.
type TakeDefaults struct{}

// Answered answers a question, or changes its answer.
type Answered struct {
	Number    int
	Text      string
	By        string
	ByDefault bool // nobody answered before the deadline
}

func (e Answered) apply(in *Instance, _ Commit) {
	all := slices.Clone(in.Questions)
	for i := range all {
		if q := &all[i]; q.Number == e.Number {
			q.Answered, q.Answer, q.By, q.ByDefault = true, e.Text, e.By, e.ByDefault
		}
	}
	in.Questions = all
}

// useAnswers marks the answers of people as used: an agent works with them from now on. While a
// question is open nobody goes on for good, and none is used.
func (in *Instance) useAnswers() {
	if !slices.ContainsFunc(in.Questions, Question.Changeable) || len(in.OpenQuestions()) > 0 {
		return
	}
	in.Questions = slices.Clone(in.Questions)
	for i := range in.Questions {
		in.Questions[i].Used = in.Questions[i].Used || in.Questions[i].Changeable()
	}
}

// Changeable reports whether people can change their answer.
func (q Question) Changeable() bool { return q.To == "" && q.Answered && !q.Used }

// Answerable returns the question of the number, to which people can give an answer or another one.
func (in Instance) Answerable(number int) (Question, bool) {
	i := slices.IndexFunc(in.Questions, func(q Question) bool { return q.Number == number })
	if i < 0 {
		return Question{}, false
	}
	q := in.Questions[i]
	return q, q.Changeable() || q.To == "" && !q.Answered
}

// DefaultDue returns when a default is taken next. ok is false if none will be.
func (in Instance) DefaultDue() (at time.Time, ok bool) {
	for _, q := range in.Questions {
		if q.takesDefault() && (!ok || q.Deadline.Before(at)) {
			at, ok = q.Deadline, true
		}
	}
	return at, ok
}

func (q Question) takesDefault() bool {
	return q.To == "" && !q.Answered && q.Default != "" && !q.Deadline.IsZero()
}

// decide records the answers, all or none.
func (a Answer) decide(d *decision) error {
	if err := d.fromPeople("answer"); err != nil {
		return err
	}
	all := a.More
	if a.Number != 0 || len(all) == 0 {
		all = append([]QuestionAnswer{{Question: a.Number, Text: a.Text}}, all...)
	}
	var given []Event
	for _, one := range all {
		q, ok := d.in.Answerable(one.Question)
		switch {
		case ok:
		case q.Used:
			return d.refuse(CodeInvalid, d.openNumbers(), "question %d is answered, and an agent works with the answer already; "+
				"a note reaches the next one", one.Question)
		default:
			return d.refuse(CodeInvalid, d.openNumbers(), "question %d is not open", one.Question)
		}
		text := one.Text
		if q.Kind != question.Text {
			var err error
			if text, err = q.Form.Answer(q.Text, one.Text); err != nil {
				return d.refuse(CodeInvalid, q.Permitted(), "question %d: %v", one.Question, err)
			}
		}
		given = append(given, Answered{Number: one.Question, Text: text, By: d.cmd.Actor})
	}
	open := len(d.in.OpenQuestions())
	d.record(given...)
	if open == len(d.in.OpenQuestions()) {
		return d.runAlways(false)
	}
	return d.goOnAnswered("")
}

// openNumbers lists the numbers of the open questions to people.
func (d *decision) openNumbers() (numbers []string) {
	for _, q := range d.in.OpenQuestions() {
		numbers = append(numbers, fmt.Sprint(q.Number))
	}
	return numbers
}

// decide records the defaults of the questions whose deadline has passed.
func (a TakeDefaults) decide(d *decision) error {
	due, ok := d.in.DefaultDue()
	switch {
	case !ok:
		return d.refuse(CodeStale, nil, "no default is to be taken")
	case d.cmd.At.Before(due):
		return d.refuse(CodeEarly, nil, "the next default is taken at %s", stamp(due))
	}
	for _, q := range d.in.Questions {
		if q.takesDefault() && !d.cmd.At.Before(q.Deadline) {
			d.record(Answered{Number: q.Number, Text: q.Default, ByDefault: true})
		}
	}
	return d.goOnAnswered("nobody answered in time; the default counts")
}

// goOnAnswered goes on when the last open question is answered, as after the comment of a person who
// may decide. The reason, unless it is empty, is that of the move.
func (d *decision) goOnAnswered(reason string) error {
	if _, escalated := d.in.Escalation(); escalated || d.in.Kind != workflow.Wait || len(d.in.OpenQuestions()) > 0 {
		return d.runAlways(false)
	}
	return d.reactFor(reason, commented, map[string]string{"operator": "true"})
}

// commented is the signal of a person's comment.
const commented = "commented"

// takeAnswers records the answers of a result to questions that people can answer. Words that are no
// answer in the form of the question stay in the result.
func (d *decision) takeAnswers(all []QuestionAnswer) {
	taken := map[int]bool{} // the first answer to a question counts
	for _, a := range all {
		q, ok := d.in.Answerable(a.Question)
		if !ok || taken[a.Question] {
			continue
		}
		text := a.Text
		if q.Kind != question.Text {
			var err error
			if text, err = q.Form.Answer(q.Text, a.Text); err != nil {
				continue
			}
		}
		taken[a.Question] = true
		if !q.Answered || q.Answer != text {
			d.record(Answered{Number: a.Question, Text: text, By: a.By})
		}
	}
}
