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
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/question"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
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

// Questions of logs from before there were forms have none: each channel takes any words, and keeps them.
func TestAQuestionOfAnOldLogTakesAnyWordsInEachChannel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, words := rapid.StringMatching(`[A-Z][a-z ]{3,30}\?`).Draw(t, "question"), rapid.StringMatching(`[b-z]{4,12}( [a-z]{1,9}){0,4}`).Draw(t, "answer")
		events := wire.ToEvents(&pb.Commit{Events: []*pb.Event{
			{Event: &pb.Event_Asked{Asked: &pb.Asked{Number: 1, From: "analyst", Text: text}}},
			{Event: &pb.Event_Asked{Asked: &pb.Asked{Number: 2, From: "analyst", Text: text}}},
			{Event: &pb.Event_Answered{Answered: &pb.Answered{Number: 2, Text: words, By: "ann"}}},
		}})
		all := instance.Fold("acme/widgets/1", []instance.Commit{{Seq: 1, At: nine, Events: events}}).Questions
		if len(all) != 2 || all[0].Answered || all[1].Answer != words || all[1].ByDefault {
			t.Fatalf("it replays as %+v", all)
		}
		if lines := append(view.FormLines(all[0]), view.FormLines(all[1])...); len(lines) > 0 {
			t.Errorf("the command line shows %q", lines)
		}
		form := answerable(view.Instance{Questions: all}, refusal{})
		if len(form) != 1 || form[0].Number != 1 || form[0].Options() != nil || form[0].IsNumber() || form[0].Hint() != "" || form[0].Sent != "" {
			t.Errorf("the console shows %+v", form)
		}
		if value, more, err := all[0].Read(text, words); value != words || more != "" || err != nil {
			t.Errorf("the API takes %q as %q, %q, %v", words, value, more, err)
		}
		if got := rules.ParseAnswers("Q1: "+words, all, true); len(got) != 1 || got[0].Text != words || len(rules.Check("Q1: "+words, all)) > 0 {
			t.Errorf("a comment answers %+v", got)
		}
	})
}
