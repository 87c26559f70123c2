package exec

import (
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/instance"
)

func TestAResultIsNotLostForWhatItSaysTooMuch(t *testing.T) {
	for name, c := range map[string]struct {
		text    string
		status  instance.Status
		summary string
		note    string
		invalid bool
	}{
		"as it should be":           {text: `{"status": "success", "summary": "Fix it"}`, status: instance.Success, summary: "Fix it"},
		"an unknown key":            {text: `{"status": "success", "sumary": "x", "files": ["a"]}`, status: instance.Success, note: `["files" "sumary"]`},
		"null":                      {text: `{"status": "blocked", "questions": null, "summary": null, "data": {"a": null}}`, status: instance.Blocked},
		"a value that is wrong":     {text: `{"status": "success", "confidence_score": 95}`, invalid: true},
		"a fence at the end":        {text: "I did it.\n\n```json\n{\"status\": \"success\"}\n```\n", status: instance.Success},
		"a fence and words after":   {text: "```json\n{\"status\": \"failure\", \"summary\": \"no\"}\n```\n\nThat is all.", status: instance.Failure, summary: "no"},
		"the last of several":       {text: "```\n{\"status\": \"failure\"}\n```\nthen\n```\n{\"status\": \"success\"}\n```\nDone.", status: instance.Success},
		"an object that is none":    {text: "```json\n{\"name\": \"x\"}\n```\nThat is package.json.", status: ""},
		"an example in a sentence":  {text: `I would print {"status": "success"} at the end.`, status: ""},
		"no JSON between the fence": {text: "```json\n{status: success}\n```\nDone.", status: ""},
	} {
		t.Run(name, func(t *testing.T) {
			out, declared, err := statement(files{result: t.TempDir() + "/none"}, &answer{text: c.text})
			if c.invalid != (err != nil) || declared != (c.status != "") || out.Result.Status != c.status || out.Result.Summary != c.summary {
				t.Fatalf("%t, %+v, %v", declared, out, err)
			}
			if (len(out.Notes) > 0) != (c.note != "") || c.note != "" && !strings.Contains(out.Notes[0].Text, c.note) {
				t.Errorf("the notes are %+v", out.Notes)
			}
		})
	}
}

func TestTheSummaryIsWhatAMessageSaysBesideItsResult(t *testing.T) {
	said := &answer{text: "```json\n{\"status\": \"success\"}\n```\n\nSpell Hello right"}
	if got := summary(said, nil); got != "Spell Hello right" {
		t.Errorf("got %q", got)
	}
	if got := summary(&answer{text: "```json\n{\"status\": \"success\"}\n```"}, []byte("working\ndone\n")); got != "done" {
		t.Errorf("of nothing but a result: %q", got)
	}
}
