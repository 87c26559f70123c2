package agent

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/base/secret"
	"github.com/signalbox/signalbox/pkg/base/secret/secrettest"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/question"
)

func newRedactor(t testing.TB) redactor {
	t.Helper()
	s, err := secret.New()
	if err != nil {
		t.Fatal(err)
	}
	return redactor{s.With("tavern-lantern")}
}

func TestNoTextOfAResultKeepsACredential(t *testing.T) {
	token := "gh" + "p_" + strings.Repeat("a1B2", 9) // put together, so that no scanner takes this file for a leak
	for _, leak := range []string{token, "tavern-lantern"} {
		text := "it printed " + leak + " and ended"
		in := instance.Result{
			Status: instance.Success, Summary: text, IssuesFound: []string{"fine", text}, Questions: []string{text},
			Forms:   map[string]question.Wanted{text: {Form: question.Form{Reason: text}}},
			Answers: []instance.QuestionAnswer{{Question: 1, Text: text, By: "ann"}}, Head: "ab12", Base: "cd34", Bundle: "git/x/y",
			Evidence: []instance.Evidence{{Name: "tests", Commit: "ab12", Command: "go test " + leak, Output: text, Failed: []string{text},
				Data: map[string]string{"reason": text}}},
			Data:     map[string]string{"note": text, "prNumber": "7"},
			Sections: map[string]string{"writer": `{"n":1.50,"said":["` + text + `"],"deep":{"` + leak + `":true}}`, "other": `{ "a": 1 }`},
		}
		before, _ := json.Marshal(in)
		out := newRedactor(t).result(in)
		stored, err := json.Marshal(out)
		if err != nil || strings.Contains(string(stored), leak) {
			t.Errorf("it has the credential still: %s, %v", stored, err)
		}
		if after, _ := json.Marshal(in); string(after) != string(before) {
			t.Errorf("the handler's own result became %s", after)
		}
		for name, section := range out.Sections {
			if !json.Valid([]byte(section)) {
				t.Errorf("section %s is no JSON any more: %s", name, section)
			}
		}
		if !strings.Contains(out.Sections["writer"], "1.50") || out.Sections["other"] != `{ "a": 1 }` || out.Data["prNumber"] != "7" ||
			out.Head != "ab12" || out.Bundle != "git/x/y" || !strings.Contains(out.Summary, "it printed [redacted: ") {
			t.Errorf("the result is %+v", out)
		}
	}
}

func TestNoKindOfCredentialIsRecorded(t *testing.T) {
	r := newRedactor(t)
	for kind, text := range secrettest.Corpus(t) {
		out := r.result(instance.Result{
			Summary: "it says " + text, Questions: []string{text}, IssuesFound: []string{text}, Data: map[string]string{"note": text},
			Evidence: []instance.Evidence{{Name: "tests", Command: text, Output: "line\n" + text, Failed: []string{text}}},
		})
		e := out.Evidence[0]
		for where, kept := range map[string]string{"summary": out.Summary, "question": out.Questions[0], "issue": out.IssuesFound[0],
			"data": out.Data["note"], "command": e.Command, "output": e.Output, "failed test": e.Failed[0]} {
			if found := r.Scan(kept); len(found) > 0 || !strings.Contains(kept, "redacted") {
				t.Errorf("%s: the %s is %q, with %v", kind, where, kept, found)
			}
		}
	}
}

// A secret may be one by the key that it stands under, though it looks like any word.
func TestAValueOfADocumentIsRedactedByItsKey(t *testing.T) {
	random := "hT8sLq2Zx9" + "Wm4Vb7Nc1K" + "e5Rj3Yd6Pf" + "0GaUi2Oo8A"
	got := newRedactor(t).json(`{"aws_secret_access_key":"` + random + `","title":"fine"}`)
	if strings.Contains(got, random) || !strings.Contains(got, `"title":"fine"`) || !json.Valid([]byte(got)) {
		t.Errorf("it is %s", got)
	}
}

func TestAResultWithoutCredentialsIsTheSame(t *testing.T) {
	in := instance.Result{Summary: "the sum is right", Evidence: []instance.Evidence{{Output: strings.Repeat("ok\n", 100)}},
		Sections: map[string]string{"a": "{}"}}
	if out := newRedactor(t).result(in); !reflect.DeepEqual(out, in) {
		t.Errorf("it became %+v", out)
	}
	if out := (redactor{}).result(in); !reflect.DeepEqual(out, in) {
		t.Errorf("without a scanner it became %+v", out)
	}
}

func BenchmarkRedact(b *testing.B) {
	r := newRedactor(b)
	in := instance.Result{Summary: "implemented the change in page.go", IssuesFound: []string{"none"}, Data: map[string]string{"a": "b"}}
	for b.Loop() {
		r.result(in)
	}
}
