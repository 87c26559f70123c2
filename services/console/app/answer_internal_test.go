package app

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/question"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

// formed waits for an answer to a choice and a number, and has one to yes or no.
func formed(hostile string) view.Instance {
	ask := func(n int, form question.Form) instance.Question {
		return instance.Question{Number: n, From: "analyst", Text: "Which?", AskedAt: nine, Form: form, Deadline: nine.Add(48 * time.Hour)}
	}
	in := view.Instance{Instance: "acme/1", State: "waiting", Kind: "wait", Questions: []instance.Question{
		ask(1, question.Form{Kind: question.Choice, Options: []string{"PostgreSQL", "SQLite" + hostile}, Default: "SQLite" + hostile, Reason: hostile}),
		ask(2, question.Form{Kind: question.Number, Default: "14"}), ask(3, question.Form{Kind: question.YesNo})}}
	q := &in.Questions[2]
	q.Answered, q.Answer, q.By = true, "no\n\nonly on Linux", "ann"
	return in
}

func inboxText(p pages, page inboxPage) string {
	w := httptest.NewRecorder()
	p.show(w, http.StatusOK, "inbox", page)
	return w.Body.String()
}

func TestOptionsAreRadioButtonsWithTheDefaultChosen(t *testing.T) {
	p, err := readPages()
	if err != nil {
		t.Fatal(err)
	}
	p.now = func() time.Time { return nine }
	in := formed("")
	page := inboxPage{Items: []item{{Row: boardRow{row: row{ID: in.Instance, Entered: nine}}, Forms: makeForms(in, nil, "/inbox", false, refusal{})}}}
	text := inboxText(p, page)
	for _, want := range []string{
		`value="PostgreSQL"> <label for="acme/1-q1-0">a) PostgreSQL</label>`, `value="SQLite" checked> <label for="acme/1-q1-1">b) SQLite <span class="dim">(default)</span></label>`,
		"Without an answer, “SQLite” is taken at ", `type="number" step="any" value="14"`, `name="q3" value="no" checked>`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the inbox lacks %q:\n%s", want, text)
		}
	}
	page.Items[0].Forms = makeForms(formed(`"><script>x</script>`), nil, "/inbox", false, refusal{})
	if text := inboxText(p, page); strings.Contains(text, "<script>x") {
		t.Errorf("the inbox has a script of an option:\n%s", text)
	}
}

func TestAFormIsReadAsAnAnswerIsElsewhere(t *testing.T) {
	in := formed("")
	form := url.Values{"q1": {"SQLite"}, "q2": {"30"}, "q3": {"no"}}
	if got, want := answerOf(in, form), "Q1: SQLite\n\nQ2: 30"; got != want {
		t.Errorf("it is %q, want %q", got, want)
	}
	form.Set("q3", "yes")
	if diff := cmp.Diff("yes", changed(in, form)[0].GetText()); diff != "" {
		t.Error(diff)
	}
	form.Set("q1", "Oracle")
	_, err := answer(context.Background(), nil, in, form)
	if !errors.Is(err, errUnfit) || !strings.Contains(err.Error(), "Permitted: a) PostgreSQL, b) SQLite") {
		t.Errorf("it is refused with %v", err)
	}
}
