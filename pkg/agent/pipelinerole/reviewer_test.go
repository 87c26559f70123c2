package pipelinerole_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/pipelinerole"
	"github.com/signalbox/signalbox/pkg/document/pipeline"
)

func TestTheReviewerApprovesWhatHasTheTestThatWasAskedFor(t *testing.T) {
	for name, c := range map[string]struct {
		after    map[string]string
		sections string // of the document
		verdict  pipeline.Verdict
		says     string
	}{
		"a change with its test":  {map[string]string{"a.go": "package b\n", "a_test.go": "package b\n"}, `{"writer": {"test_written": true, "test_file": "a_test.go"}}`, pipeline.Approved, ""},
		"one without":             {map[string]string{"a.go": "package b\n"}, `{}`, pipeline.Rejected, "asks for a test and the change has none"},
		"one that needs none":     {map[string]string{"a.go": "package b\n"}, `{"analysis": {"test_requirement": {"required": false}}}`, pipeline.Approved, ""},
		"one whose test is there": {map[string]string{"a.go": "package b\n"}, `{"analysis": {"test_requirement": {"required": true, "type": "existing"}}}`, pipeline.Approved, ""},
		"a leftover":              {map[string]string{"a.go": "package b // TO" + "DO\n"}, `{"writer": {"test_written": true}}`, pipeline.Rejected, "a.go has a leftover"},
		"no change":               {nil, `{"writer": {"test_written": true}}`, pipeline.Rejected, "nothing was changed"},
	} {
		t.Run(name, func(t *testing.T) {
			code := change(t, map[string]string{"a.go": "package a\n"}, c.after)
			a := inPipeline("reviewer", "review", code.Issue)
			a.Dir, a.Base, a.Head = code.Dir, code.Base, code.Head
			if err := json.Unmarshal([]byte(c.sections), &a.Sections); err != nil {
				t.Fatal(err)
			}
			r, s := think[pipeline.Review](t, pipelinerole.Reviewer{}, a)
			said := ""
			if s.FeedbackForWriter != nil {
				said = *s.FeedbackForWriter
			}
			if s.Verdict != c.verdict || !strings.Contains(said, c.says) || (c.says == "") != (said == "") || len(s.Findings.Issues) > 0 != (said != "") {
				t.Errorf("%+v, %+v", r, s)
			}
		})
	}
}
