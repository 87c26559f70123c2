package pipeline

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/work"
)

// assignment is a role's work in its own state.
func assignment(role string) work.Assignment {
	state := role
	return work.Assignment{
		Instance: "acme/widgets/42", Workflow: "pipeline", Role: role, State: state, Opened: opened, Writes: []string{sectionOf(role)},
		Issue: instance.Issue{Number: 42, Title: "Fix the sum"}, Previous: []string{"triage", "analyst"},
		Questions: []instance.Question{{Number: 1, From: "writer", To: "analyst", Text: "Where?"}},
		Notes:     []instance.NoteEntry{{Author: "triage/t", Kind: "k", Text: "n"}},
	}
}

// edited reads a document after the edits, each a path such as a.b[0].c, or with
// [+] a new element, and its new JSON.
func edited(t *testing.T, a work.Assignment, edits ...string) (work.Outcome, error) {
	t.Helper()
	before := OfAssignment(a)
	text, err := before.Encode()
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(edits); i += 2 {
		var value any
		if err := json.Unmarshal([]byte(edits[i+1]), &value); err != nil {
			t.Fatal(err)
		}
		parts := strings.Split(edits[i], ".")
		at := doc
		for _, p := range parts[:len(parts)-1] {
			at = at[p].(map[string]any)
		}
		last := parts[len(parts)-1]
		if list, ok := strings.CutSuffix(last, "[+]"); ok {
			at[list] = append(at[list].([]any), value)
		} else if list, ok := strings.CutSuffix(last, "[0]"); ok {
			at[list].([]any)[0] = value
		} else {
			at[last] = value
		}
	}
	after, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return Read(a, before, after)
}

func TestARoleChangesItsOwnSection(t *testing.T) {
	for role, edit := range map[string][2]string{
		"triage": {"triage.scope", `"LARGE"`}, "analyst": {"analysis.brief", `"Do it."`}, "writer": {"writer.summary", `"Did it."`},
		"build": {"build.errors", `["e"]`}, "reviewer": {"review.verdict", `"REJECTED"`}, "committer": {"commit.hash", `"c0ffee"`},
	} {
		out, err := edited(t, assignment(role), edit[0], edit[1])
		section, key, _ := strings.Cut(edit[0], ".")
		var got map[string]json.RawMessage
		if err != nil || len(out.Refused) != 0 || !out.Declared || json.Unmarshal([]byte(out.Result.Sections[section]), &got) != nil || string(got[key]) != edit[1] {
			t.Errorf("%s: %+v, %v", role, out, err)
		}
	}
}

func TestARoleChangesNothingElseAndIsToldByName(t *testing.T) {
	for _, c := range []struct {
		role, path, value, refused string
	}{
		{"writer", "triage.scope", `"LARGE"`, "triage"},
		{"writer", "analysis.must_not_do", `["x"]`, "analysis"},
		{"writer", "build", `{"tests_passed": true}`, "build"},
		{"writer", "review.verdict", `"APPROVED"`, "review.verdict"},
		{"writer", "review.feedback_for_writer", `"fine"`, "review.feedback_for_writer"},
		{"writer", "commit.pushed", `true`, "commit"},
		{"writer", "issue.title", `"Another"`, "issue"},
		{"writer", "version", `"2.0"`, "version"},
		{"writer", "extra", `1`, "extra"},
		{"writer", "pipeline.status", `"completed"`, "pipeline.status"},
		{"writer", "pipeline.max_attempts", `99`, "pipeline.max_attempts"},
		{"triage", "analysis.brief", `"x"`, "analysis"},
		{"reviewer", "pipeline.attempt", `1`, ""}, // it is 1
		{"reviewer", "pipeline.attempt", `2`, "pipeline.attempt"},
		{"build", "review.verdict", `"APPROVED"`, "review.verdict"},
		{"writer", "communication.questions", `[]`, "communication.questions[0]"},
		{"writer", "communication.questions[0]", `{"from": "writer", "to": "analyst", "question": "Where?", "answered": true, "answer": "here"}`, "communication.questions[0]"},
		{"writer", "communication.questions[+]", `{"from": "reviewer", "to": "analyst", "question": "Why?"}`, "communication.questions[1]"},
		{"writer", "communication.questions[+]", `{"from": "writer", "to": "analyst", "question": " "}`, "communication.questions[1]"},
		{"writer", "communication.escalations[+]", `{"agent": "reviewer", "reason": "r", "requires_human": true}`, "communication.escalations[0]"},
		{"writer", "learnings.session_id", `"mine"`, "learnings.session_id"},
		{"writer", "learnings.outcome", `"completed"`, "learnings.outcome"},
		{"writer", "learnings.observations", `[]`, "learnings.observations[0]"},
		{"writer", "learnings.observations[+]", `{"agent": "build", "type": "x", "content": "y"}`, "learnings.observations[1]"},
	} {
		out, err := edited(t, assignment(c.role), c.path, c.value)
		want := 1
		if c.refused == "" {
			want = 0
		}
		if err != nil || len(out.Refused) != want || want == 1 && !strings.HasPrefix(out.Refused[0], c.refused) || len(out.Result.Sections) != 0 || len(out.Asks) != 0 || out.Escalate != nil {
			t.Errorf("%s changes %s: %+v, %v", c.role, c.path, out, err)
		}
	}
}

func TestWhatIsRefusedDoesNotKeepTheRestFromCounting(t *testing.T) {
	out, err := edited(t, assignment("writer"), "writer.summary", `"Did it."`, "review.verdict", `"APPROVED"`, "pipeline.attempt", `7`, "commit.pushed", `true`)
	if err != nil || !strings.Contains(out.Result.Sections["writer"], "Did it.") || len(out.Result.Sections) != 1 || len(out.Refused) != 2 || out.Result.Status != instance.Success {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestASectionThatIsNoneFailsTheWorkByTheNameOfItsField(t *testing.T) {
	for _, c := range [][4]string{
		{"reviewer", "review.verdict", `"FINE"`, `review.verdict is "FINE", want one of APPROVED, REJECTED, NEEDS_INFO`},
		{"analyst", "analysis.files", `"a.go"`, "analysis.files is a string"},
		{"analyst", "analysis", `[]`, "section analysis is not an object"},
		{"triage", "triage.scope", `"HUGE"`, `triage.scope is "HUGE"`},
		{"triage", "pipeline.status", `"done"`, `pipeline.status is "done"`},
		{"writer", "communication", `7`, "communication"},
		{"writer", "writer.summary", `"` + strings.Repeat("x", maxSection) + `"`, "want at most"},
	} {
		if out, err := edited(t, assignment(c[0]), c[1], c[2]); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), c[3]) {
			t.Errorf("%s of %s: %+v, %v", c[1], c[0], out, err)
		}
	}
	for _, text := range []string{"", "{", "[]", "null", `"x"`} {
		if _, err := Read(assignment("writer"), OfAssignment(assignment("writer")), []byte(text)); !errors.Is(err, ErrInvalid) {
			t.Errorf("the file %q is answered %v", text, err)
		}
	}
}

func TestNewQuestionsEscalationsAndObservationsAreTaken(t *testing.T) {
	a := assignment("writer")
	out, err := edited(t, a, "communication.questions[+]", `{"from": "writer", "to": "analyst", "question": "Which debounce?", "answered": false, "answer": null}`,
		"communication.questions[+]", `{"from": "writer", "to": "human", "question": "May I?"}`,
		"communication.escalations[+]", `{"agent": "writer", "reason": "It is about money.", "requires_human": false, "resolved": false}`,
		"learnings.observations[+]", `{"agent": "writer", "type": "pattern_discovered", "content": "lodash"}`)
	if err != nil || len(out.Refused) != 0 || !slices.Equal(out.Asks, []instance.Inquiry{{To: "analyst", Question: "Which debounce?"}}) {
		t.Errorf("asked is %+v, %v", out, err)
	}
	if e := out.Escalate; e == nil || !e.RequiresHuman || e.Reason != "May I?\nIt is about money." {
		t.Errorf("escalated is %+v", e)
	}
	if n := out.Notes; len(n) != 1 || n[0].Kind != "pattern_discovered" || n[0].Text != "lodash" {
		t.Errorf("noted is %+v", n)
	}
}

func TestWhoIsAskedAnswersInTheDocument(t *testing.T) {
	a := assignment("analyst")
	a.State, a.Question = "writer", &a.Questions[0]
	out, err := edited(t, a, "communication.questions[0]", `{"from": "writer", "to": "analyst", "question": "Where?", "answered": true, "answer": "In hooks/."}`, "analysis.brief", `"Anew."`)
	if err != nil || out.Result.Summary != "In hooks/." || !out.Declared || len(out.Refused) != 1 || len(out.Result.Sections) != 0 {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestWhatARoleSaysOfTheRunIsItsResult(t *testing.T) {
	for _, c := range []struct {
		role, status, reason string
		want                 instance.Status
	}{
		{"triage", "blocked", "blocked_reason", instance.Blocked}, {"reviewer", "blocked", "blocked_reason", instance.Blocked},
		{"committer", "failed", "failure_reason", instance.Failure}, {"triage", "in_progress", "", instance.Success},
	} {
		edits := []string{"pipeline.status", `"` + c.status + `"`}
		if c.reason != "" {
			edits = append(edits, "pipeline."+c.reason, `"why"`)
		}
		out, err := edited(t, assignment(c.role), edits...)
		if err != nil || out.Result.Status != c.want || c.reason != "" && out.Result.Summary != "why" || len(out.Refused) != 0 {
			t.Errorf("%s says %s: %+v, %v", c.role, c.status, out, err)
		}
	}
}
