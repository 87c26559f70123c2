package brain

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/signalbox/signalbox/pkg/engine/instance"
)

func utf16le(text string) string {
	out := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(text)) {
		out = append(out, byte(u), byte(u>>8))
	}
	return string(out)
}

func TestAResultIsReadForItsPlainMeaning(t *testing.T) {
	success := instance.Result{Status: instance.Success, ConfidenceScore: 1}
	with := func(change func(*instance.Result)) instance.Result {
		r := success
		change(&r)
		return r
	}
	confident := func(n float64) instance.Result { return with(func(r *instance.Result) { r.ConfidenceScore = n }) }
	for name, c := range map[string]struct {
		text string
		want instance.Result
		note string // in a note; empty: there is none
	}{
		"as the schema has it":         {`{"status": "success", "confidence_score": 0.9}`, confident(0.9), ""},
		"a byte order mark":            {"\ufeff{\"status\": \"success\"}", success, ""},
		"UTF-16":                       {utf16le(`{"status": "success"}`), success, ""},
		"a status in capitals":         {`{"status": "SUCCESS"}`, success, `status "SUCCESS" as success`},
		"a status that is a kin":       {`{"status": "Completed."}`, success, "as success"},
		"a status that is a boolean":   {`{"status": true}`, success, "status true as success"},
		"a failure in other words":     {`{"status": "Failed"}`, with(func(r *instance.Result) { r.Status = instance.Failure }), "as failure"},
		"a need of information":        {`{"status": "needs info"}`, with(func(r *instance.Result) { r.Status = instance.Blocked }), "as blocked"},
		"per cent":                     {`{"status": "success", "confidence_score": 95}`, confident(0.95), "confidence_score 95 as 0.95"},
		"per cent with its sign":       {`{"status": "success", "confidence_score": "95%"}`, confident(0.95), `confidence_score "95%" as 0.95`},
		"five per cent with its sign":  {`{"status": "success", "confidence_score": "5 %"}`, confident(0.05), "as 0.05"},
		"a number as text":             {`{"status": "success", "confidence_score": "0.9"}`, confident(0.9), `confidence_score "0.9" as 0.9`},
		"a hundred per cent":           {`{"status": "success", "confidence_score": 100}`, confident(1), "100 as 1"},
		"null":                         {`{"status": "success", "confidence_score": null}`, success, ""},
		"an unknown key":               {`{"status": "success", "sumary": "x", "files": ["a"]}`, success, `["files" "sumary"]`},
		"keys in another case":         {`{"Status": "success", "confidenceScore": 0.5}`, confident(0.5), "confidenceScore as confidence_score"},
		"a shorter key":                {`{"status": "success", "confidence": 0.5}`, confident(0.5), "confidence as confidence_score"},
		"a key twice, under two names": {`{"status": "success", "confidence": 0.1, "confidence_score": 0.5}`, confident(0.5), `["confidence"]`},
		"below a key result":           {`{"result": {"status": "success"}}`, success, ""},
		"in a list of one":             {`[{"status": "success"}]`, success, ""},
		"JSON within JSON":             {`"{\"status\": \"success\"}"`, success, ""},
		"the last of several values":   {`{"status": "failure"} {"status": "success"}`, success, ""},
		"a summary of lines":           {`{"status": "success", "summary": ["Fix it", "and that"]}`, with(func(r *instance.Result) { r.Summary = "Fix it\nand that" }), "summary as text"},
		"one issue as text": {`{"status": "success", "issues_found": "it is slow"}`,
			with(func(r *instance.Result) { r.IssuesFound = []string{"it is slow"} }), "issues_found as a list"},
		"issues that are objects": {`{"status": "success", "issues_found": [{"title": "slow", "severity": 2}, ""]}`,
			with(func(r *instance.Result) { r.IssuesFound = []string{"slow"} }), "issues_found as texts"},
		"data that is no text": {`{"status": "success", "data": {"n": 3, "b": true}}`,
			with(func(r *instance.Result) { r.Data = map[string]string{"n": "3", "b": "true"} }), ""},
		"an answer by its sign": {`{"status": "success", "answers": [{"question": "Q2", "text": "yes"}, {"text": "?"}]}`,
			with(func(r *instance.Result) { r.Answers = []instance.QuestionAnswer{{Question: 2, Text: "yes"}} }), "answers without"},
		"names that models have for their use": {`{"status": "success", "usage": {"input_tokens": 10, "cache_read_input_tokens": "5", "output_tokens": 2, "total_cost_usd": 0.5, "service_tier": "x"}}`,
			with(func(r *instance.Result) { r.Spend = instance.Cost{TokensIn: 15, TokensOut: 2, USD: 0.5} }), "spend input_tokens as tokens_in"},
		"the names of the Gemini API": {`{"status": "success", "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 2, "thoughtsTokenCount": 3, "totalTokenCount": 15}}`,
			with(func(r *instance.Result) { r.Spend = instance.Cost{TokensIn: 10, TokensOut: 5} }), "spend promptTokenCount as tokens_in"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := ReadResult([]byte(c.text))
			if err != nil || fmt.Sprintf("%+v", out.Result) != fmt.Sprintf("%+v", c.want) {
				t.Fatalf("got %+v, %v\nwant %+v", out.Result, err, c.want)
			}
			if said := fmt.Sprint(out.Notes); !strings.Contains(said, c.note) || c.note == "" && len(out.Notes) > 0 {
				t.Errorf("the notes are %s, want %q", said, c.note)
			}
		})
	}
}

func TestALongResultIsCut(t *testing.T) {
	issues := make([]string, 20000)
	for i := range issues {
		issues[i] = "it is slow"
	}
	text, err := json.Marshal(map[string]any{"status": "success", "summary": strings.Repeat("ö", 1500000), "issues_found": issues,
		"data": map[string]string{"log": strings.Repeat("x", 100000)}})
	if err != nil {
		t.Fatal(err)
	}
	out, err := ReadResult(text)
	if err != nil || len([]rune(out.Result.Summary)) != maxSummary || len(out.Result.IssuesFound) != maxIssues || len(out.Result.Data["log"]) > maxData+3 {
		t.Fatalf("%v, %d characters, %d issues", err, len([]rune(out.Result.Summary)), len(out.Result.IssuesFound))
	}
	if said := fmt.Sprint(out.Notes); !strings.Contains(said, "summary cut to 20000 characters of 1500000") || !strings.Contains(said, "issues_found cut to 100 of 20000") {
		t.Errorf("the notes are %s", said)
	}
}

func TestAnEscalationIsReadForItsPlainMeaning(t *testing.T) {
	for text, want := range map[string]*Escalation{
		`{"status": "blocked", "escalate": "no access"}`:                                                 {Reason: "no access", RequiresHuman: true},
		`{"status": "blocked", "summary": "no access", "escalate": true}`:                                {Reason: "no access", RequiresHuman: true},
		`{"status": "blocked", "escalate": {"reason": "no access"}}`:                                     {Reason: "no access", RequiresHuman: true},
		`{"status": "blocked", "escalate": {"reason": "no access", "requires_human": "no", "who": "x"}}`: {Reason: "no access", RequiresHuman: false},
		`{"status": "success", "escalate": false}`:                                                       nil,
	} {
		out, err := ReadResult([]byte(text))
		if err != nil || (out.Escalate == nil) != (want == nil) || want != nil && *out.Escalate != *want {
			t.Errorf("%s: %+v, %v", text, out.Escalate, err)
		}
	}
}

func TestAResultWithoutAPlainMeaningIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		``:                        "not JSON",
		`done`:                    "not JSON",
		`{"status": "success"`:    "not JSON",
		`[]`:                      "it is a list, want an object",
		`3`:                       "it is a number",
		`{}`:                      "status",
		`{"summary": "done"}`:     "status",
		`{"status": "splendid"}`:  "splendid does not equal any of",
		`{"status": ["success"]}`: "status",
		`{"status": "success", "confidence_score": 8}`:      "confidence_score: maximum",
		`{"status": "success", "confidence_score": 250}`:    "confidence_score: maximum",
		`{"status": "success", "confidence_score": -1}`:     "confidence_score: minimum",
		`{"status": "success", "confidence_score": "high"}`: "confidence_score",
		`{"status": "success", "escalate": {}}`:             "escalate",
	} {
		if out, err := ReadResult([]byte(text)); !errors.Is(err, ErrInvalidResult) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v; want %q", text, out.Result, err, want)
		}
	}
}

// FuzzReadResult holds that each text is read or refused, and that reading a second time
// changes nothing.
func FuzzReadResult(f *testing.F) {
	f.Add([]byte(`{"status": "SUCCESS", "confidence": "95%", "answers": [{"question": "Q1", "text": 3}], "spend": {"input_tokens": "7"}}`))
	f.Add([]byte(`[{"result": {"status": true, "escalate": "x", "data": {"a": [1, {}]}}}]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if out, err := ReadResult(text); err == nil && (out.Result.ConfidenceScore < 0 || out.Result.ConfidenceScore > 1) {
			t.Errorf("%s has a confidence of %v", text, out.Result.ConfidenceScore)
		}
	})
}
