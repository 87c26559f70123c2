package brain

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/pkg/engine/question"
)

func TestAQuestionIsATextOrHasAForm(t *testing.T) {
	choice := question.Wanted{Within: 48 * time.Hour,
		Form: question.Form{Kind: question.Choice, Options: []string{"tabs", "spaces"}, Default: "spaces", Reason: "both occur"}}
	for name, c := range map[string]struct {
		asked string // the JSON of a question
		text  string
		want  question.Wanted // the zero form: none is kept
	}{
		"a text":            {`"Which?"`, "Which?", question.Wanted{}},
		"a choice":          {`{"question": "Which?", "kind": "choice", "options": ["tabs", "spaces"], "default": "b", "reason": "both occur", "within": "2 days"}`, "Which?", choice},
		"in other words":    {`{"text": "Which?", "type": "Multiple-Choice", "choices": ["tabs", "spaces"], "default": "SPACES", "why": "both occur", "deadline": "48h"}`, "Which?", choice},
		"yes or no":         {`{"question": "Sure?", "kind": "boolean", "default": true}`, "Sure?", question.Wanted{Form: question.Form{Kind: question.YesNo, Default: "yes"}}},
		"a number":          {`{"question": "How many?", "kind": "integer", "default": 3}`, "How many?", question.Wanted{Form: question.Form{Kind: question.Number, Default: "3"}}},
		"options alone":     {`{"question": "Which?", "options": ["x", "y"]}`, "Which?", question.Wanted{Form: question.Form{Kind: question.Choice, Options: []string{"x", "y"}}}},
		"an object of text": {`{"title": "Which?"}`, "Which?", question.Wanted{}},
	} {
		out, err := ReadResult([]byte(`{"status": "blocked", "questions": [` + c.asked + `, "And?"]}`))
		if err != nil || !cmp.Equal(out.Result.Questions, []string{c.text, "And?"}) || !cmp.Equal(out.Result.Forms[c.text], c.want) {
			t.Errorf("%s: %q, %+v, %v", name, out.Result.Questions, out.Result.Forms, err)
		}
	}
}

func TestAFormThatNobodyCanAnswerIsAnInvalidResult(t *testing.T) {
	for asked, want := range map[string]string{
		`{"question": "Which?", "kind": "choice"}`:                                             "a choice has 2 to 20 options",
		`{"question": "Which?", "kind": "choice", "options": ["x", "y"], "default": "z"}`:      `the default "z" is no answer`,
		`{"question": "Which?", "kind": "choice", "options": ["x", "y"], "within": "a while"}`: "within",
		`{"question": "Which?", "kind": "slider"}`:                                             "kind",
	} {
		_, err := ReadResult([]byte(`{"status": "blocked", "questions": [` + asked + `]}`))
		if !errors.Is(err, ErrInvalidResult) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", asked, err, want)
		}
	}
}
