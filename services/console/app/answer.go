package app

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/question"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

// asksPeople is a question that people can answer, or whose answer they can change.
type asksPeople struct {
	instance.Question
	Field, Sent string // the field, and its value: as it was sent, else the answer, else the default
}

// Options returns the options of a choice, or yes and no.
func (q asksPeople) Options() []string {
	if q.Kind == question.YesNo {
		return []string{question.Yes, question.No}
	}
	return q.Question.Options
}

// Letter returns the letter of an option of a choice, as it stands before the option.
func (q asksPeople) Letter(i int) string {
	if q.Kind != question.Choice {
		return ""
	}
	return question.Letter(i) + ") "
}

// IsNumber reports whether the answer is a number.
func (q asksPeople) IsNumber() bool { return q.Kind == question.Number }

// Hint says what happens without an answer, and why it is asked.
func (q asksPeople) Hint() string {
	_, more := q.Lines(q.Deadline)
	return strings.Join(more, " ")
}

// answerable returns the open questions of an instance, and in addition those with a form whose answer can be changed.
func answerable(in view.Instance, no refusal) (all []asksPeople) {
	for _, q := range in.Questions {
		if q.To != "" || q.Answered && (q.Used || q.Kind == question.Text) {
			continue
		}
		one := asksPeople{Question: q, Field: fmt.Sprintf("q%d", q.Number), Sent: cmp.Or(q.Form.Value(q.Answer), q.Default)}
		if no.Instance == in.Instance {
			one.Sent = no.Sent.Get(one.Field)
		}
		all = append(all, one)
	}
	return all
}

// answer sends the answers of a form, all of them or none. Those that only change others go as answers,
// the rest as a comment, which the PM reads.
func answer(ctx context.Context, as *client.Client, in view.Instance, form url.Values) (*pb.CommandReply, error) {
	text := answerOf(in, form)
	if text == "" {
		return nil, errEmpty
	}
	if unfit := rules.Check(text, in.Questions); len(unfit) > 0 {
		return nil, fmt.Errorf("%w: %s", errUnfit, unfit[0])
	}
	if changes := changed(in, form); len(changes) > 0 && !slices.ContainsFunc(in.Open(), func(q instance.Question) bool { return sent(form, q) != "" }) &&
		strings.TrimSpace(form.Get("text")) == "" {
		return as.AnswerQuestions(ctx, in.Instance, changes...)
	}
	held, _ := in.Held()
	return as.Answer(ctx, in.Instance, int32(held.Number), text)
}

// sent returns the answer of a form to a question.
func sent(form url.Values, q instance.Question) string {
	return strings.TrimSpace(form.Get(fmt.Sprintf("q%d", q.Number)))
}

// changed returns the answers that a form changes.
func changed(in view.Instance, form url.Values) (all []*pb.Answer) {
	for _, q := range answerable(in, refusal{}) {
		if text := sent(form, q.Question); q.Answered && text != "" && text != q.Form.Value(q.Answer) {
			all = append(all, &pb.Answer{Question: int32(q.Number), Text: text})
		}
	}
	return all
}

// answerOf joins the answers of a form: those to questions, each with its number, and the text.
func answerOf(in view.Instance, form url.Values) string {
	var parts []string
	add := func(number int, text string) { parts = append(parts, fmt.Sprintf("Q%d: %s", number, text)) }
	for _, q := range in.Open() {
		if text := sent(form, q); text != "" {
			add(q.Number, text)
		}
	}
	for _, a := range changed(in, form) {
		add(int(a.GetQuestion()), a.GetText())
	}
	if text := strings.TrimSpace(form.Get("text")); text != "" {
		parts = append(parts, text)
	}
	return strings.ReplaceAll(strings.Join(parts, "\n\n"), "\r\n", "\n")
}
