package brain

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// full is an assignment with every field set.
func full() Assignment {
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	evidence := []instance.Evidence{{
		Name: "tests", Commit: "c0ffee", Command: "go test ./...", ExitCode: 1, Passed: 3,
		Failed: []string{"TestSum"}, Output: "--- FAIL: TestSum", Millis: 12,
	}}
	return Assignment{
		Work:     workflow.WorkSpec{Runs: workflow.RunsTests, Change: workflow.ChangeDropped, Does: workflow.SelfCheck},
		Protocol: Protocol, Instance: "acme/widgets/42", Workflow: "issue", State: "implementing", About: "Make the failing tests pass.",
		Role: "developer", Agent: "developer-1", Deadline: at, Iteration: 2, Attempt: 3,
		Failures: 2, Opened: at, Entered: at, Question: &instance.Question{Number: 3, From: "writer", To: "developer", Text: "Where is the debounce?", AskedAt: at},
		Issue: instance.Issue{
			Repo: "acme/widgets", Number: 42, Title: "Sum is wrong", Body: "It says 5.", Labels: []string{"bug"}, Author: "ada", URL: "https://forge/42",
		},
		Questions: []instance.Question{
			{Number: 1, From: "analyst", Text: "Which version?", AskedAt: at, Answered: true, Answer: "1.2", By: "ada"},
			{Number: 2, From: "analyst", Text: "On which system?", AskedAt: at},
			{Number: 3, From: "writer", To: "developer", Text: "Where is the debounce?", AskedAt: at},
		},
		Notes:    []instance.NoteEntry{{Author: "tester", Kind: "learning", Text: "Tests need TZ=UTC.", At: at}},
		Warnings: []string{"loop: the same three states again"},
		Previous: []string{"received", "implementing"}, Next: []string{"running_tests"},
		Last:     &instance.Result{Status: instance.Failure, ConfidenceScore: 0.5, Summary: "Did not compile.", IssuesFound: []string{"missing import"}, Evidence: evidence},
		Evidence: evidence, Policy: map[string]any{"max_iterations": 10},
		Vars:     map[string]string{"verdict": "REJECTED", "outcome": ""},
		Sections: map[string]json.RawMessage{"analysis": json.RawMessage(`{"brief": "Do it."}`)}, Writes: []string{"writer"},
		Escalations: []instance.Escalation{
			{Number: 1, Agent: "reviewer", Reason: "It touches the login.", RequiresHuman: true, At: at, Resolved: true, Resolution: "That is fine.", By: "ada"},
			{Number: 2, Agent: "writer", Reason: "The tests are slow.", At: at},
		},
		Base: "ba5e", Head: "c0ffee", Branch: "signalbox/issue-42", Dir: "/work/tree", StateFile: "issue-state.json", Shared: "/cache/objects",
	}
}

func decode(t *testing.T, text []byte) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestAssignmentsAreWhatTheirSchemaSays(t *testing.T) {
	properties := decode(t, document("assignment"))["properties"].(map[string]any)
	for name, a := range map[string]Assignment{"full": full(), "empty": {}} {
		t.Run(name, func(t *testing.T) {
			text, err := a.Encode()
			if err != nil {
				t.Fatal(err)
			}
			value := decode(t, text)
			if err := check(document("assignment"), any(value)); err != nil {
				t.Errorf("%v in\n%s", err, text)
			}
			for key := range value {
				if properties[key] == nil {
					t.Errorf("the schema does not know %q", key)
				}
			}
			if name == "full" && len(value) != len(properties) {
				t.Errorf("%d keys, the schema has %d", len(value), len(properties))
			}
		})
	}
	if text, _ := full().Encode(); strings.Contains(string(text), "/cache/objects") {
		t.Error("a path of the runtime's is told")
	}
}

func TestResultsAreDecoded(t *testing.T) {
	got, err := DecodeResult([]byte(`{
		"status": "blocked", "confidence_score": 0.25, "issues_found": ["a"], "next": "planning", "summary": "s", "questions": ["q?"],
		"answers": [{"question": 2, "text": "yes", "by": "ada"}], "failure_signature": "f", "data": {"k": "v"},
		"spend": {"tokens_in": 1, "tokens_out": 2, "usd": 0.5, "wall_ms": 4},
		"asks": [{"to": "analyst", "question": "where?"}], "escalate": {"reason": "r", "requires_human": true},
		"sections": {"writer": {"completed": true}, "review": {}}
	}`))
	want := Outcome{Declared: true, Asks: []instance.Inquiry{{To: "analyst", Question: "where?"}}, Escalate: &Escalation{Reason: "r", RequiresHuman: true}}
	want.Result = instance.Result{
		Status: instance.Blocked, ConfidenceScore: 0.25, IssuesFound: []string{"a"}, Next: "planning", Summary: "s", Questions: []string{"q?"},
		Answers: []instance.QuestionAnswer{{Question: 2, Text: "yes", By: "ada"}}, FailureSignature: "f", Data: map[string]string{"k": "v"},
		Spend:    instance.Cost{TokensIn: 1, TokensOut: 2, USD: 0.5, WallMS: 4},
		Sections: map[string]string{"writer": `{"completed": true}`, "review": "{}"},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	if got, err := DecodeResult([]byte(`{"status": "success"}`)); err != nil || got.Result.ConfidenceScore != 1 || got.Asks != nil || got.Escalate != nil || got.Result.Sections != nil {
		t.Errorf("without more: %+v, %v", got, err)
	}
}

func TestInvalidResultsNameTheField(t *testing.T) {
	for text, want := range map[string]string{
		``:                      "not JSON",
		`{"status": "succ`:      "not JSON",
		`done`:                  "not JSON",
		`{"status":"success"}{`: "more than one",
		`[]`:                    `has type "array", want "object"`,
		`{}`:                    `missing properties: ["status"]`,
		`{"status": "done"}`:    `status: enum: done does not equal any of: [success failure blocked]`,
		`{"status": "success", "confidence_score": 7}`:                     `confidence_score: maximum`,
		`{"status": "success", "confidence_score": "high"}`:                `confidence_score: type: high has type "string", want "number"`,
		`{"status": "success", "evidence": [], "headd": "x"}`:              `unexpected additional properties ["evidence" "headd"]`,
		`{"status": "success", "answers": [{"question": 1}]}`:              `answers[]: required: missing properties: ["text"]`,
		`{"status": "success", "answers": [{"question": 1.5, "text":""}]}`: `answers[].`,
		`{"status": "success", "data": {"k": 1}}`:                          `data.*: type: 1 has type "integer", want "string"`,
		`{"status": "blocked", "asks": [{"question": "where?"}]}`:          `asks[]: required: missing properties: ["to"]`,
		`{"status": "blocked", "asks": [{"to": "pm", "question": ""}]}`:    `asks[].question: minLength`,
		`{"status": "blocked", "escalate": {"reason": "r"}}`:               `escalate: required: missing properties: ["requires_human"]`,
		`{"status": "success", "sections": {"writer": "done"}}`:            `sections.*: type: done has type "string", want "object"`,
		`{"status": "success", "spend": {"usd": -1}}`:                      `spend.usd: minimum`,
	} {
		t.Run(text, func(t *testing.T) {
			_, err := DecodeResult([]byte(text))
			if !errors.Is(err, ErrInvalidResult) || !strings.Contains(err.Error(), want) {
				t.Errorf("err %v, want %q", err, want)
			}
		})
	}
}

func TestALearningThatNoneCanBeIsLeftOutAndTheResultCounts(t *testing.T) {
	const before, after = `{"status": "success", "sections": {"writer": {"n": 12345678901234567890}}, "learnings": `, `}`
	long := strings.Repeat("a", 501)
	for learned, want := range map[string]struct {
		kept []Learned
		lost int
	}{
		`[{"path": "./pkg/api/", "text": "It is\n generated."}, {"text": "The tests need TZ=UTC."}]`: {[]Learned{{Path: "pkg/api", Text: "It is generated."}, {Text: "The tests need TZ=UTC."}}, 0},
		`["The tests need TZ=UTC."]`: {[]Learned{{Text: "The tests need TZ=UTC."}}, 0},
		`"The tests need TZ=UTC."`:   {[]Learned{{Text: "The tests need TZ=UTC."}}, 0},
		`[]`:                         {[]Learned{}, 0},
		`[{"path": "../x", "text": "a"}, {"path": "x"}, 7, null, {"text": "` + long + `"}, {"text": "b", "why": "c"}]`: {[]Learned{{Text: "b"}}, 5},
	} {
		out, err := DecodeResult([]byte(before + learned + after))
		if err != nil {
			t.Errorf("%.80s: %v", learned, err)
			continue
		}
		if d := cmp.Diff(want.kept, out.Learned); d != "" || len(out.Notes) != want.lost {
			t.Errorf("%.80s: it learned (-want +got):\n%s\nand noted %+v", learned, d, out.Notes)
		}
		for _, n := range out.Notes {
			if n.Kind != "warning" || !strings.HasPrefix(n.Text, "the result has a learning that is not kept: ") {
				t.Errorf("%.80s: it notes %+v", learned, n)
			}
		}
		if got := out.Result.Sections["writer"]; got != `{"n":12345678901234567890}` && got != `{"n": 12345678901234567890}` {
			t.Errorf("%.80s: the section is %s", learned, got)
		}
	}
}
