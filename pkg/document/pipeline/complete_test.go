package pipeline

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/verdict"
	"github.com/signalbox/signalbox/pkg/engine/work"
)

// completed is the section of a role's result.
func completed[T any](t *testing.T, a work.Assignment, r instance.Result, files ...work.FileChange) (instance.Result, T) {
	t.Helper()
	out, err := Complete(a, files, r)
	if err != nil {
		t.Fatalf("%s: %v", a.Role, err)
	}
	var section T
	if err := json.Unmarshal([]byte(out.Sections[sectionOf(a.Role)]), &section); err != nil {
		t.Fatalf("%s: %v in %q", a.Role, err, out.Sections)
	}
	return out, section
}

func success(summary string) instance.Result {
	return instance.Result{Status: instance.Success, Summary: summary}
}

func TestTheWritersSectionSaysWhatTheDiffSays(t *testing.T) {
	a := assignment("writer")
	a.Previous = []string{"triage", "analyst", "writer", "build"}
	a.Sections = map[string]json.RawMessage{"review": json.RawMessage(`{"feedback_for_writer": "null check"}`)}
	r := success("")
	r.Sections = map[string]string{"writer": `{"summary": "Debounced.", "attempt": 9, "test_written": true, "test_file": "none", "changes": [{"file": "a.js", "description": "debounce"}], "previous_feedback": "none"}`}
	out, w := completed[Writer](t, a, r, work.FileChange{Path: "a.js", Status: "M"}, work.FileChange{Path: "b.js", Status: "M"})
	if !w.Completed || w.Attempt != 2 || w.TestWritten || w.TestFile != "" || text(w.PreviousFeedback) != "null check" || out.Summary != "Debounced." {
		t.Errorf("the section is %+v, the summary %q", w, out.Summary)
	}
	if !slices.Equal(w.Changes, List[Change]{{"a.js", "debounce"}, {"b.js", "Debounced."}}) {
		t.Errorf("the changes are %+v", w.Changes)
	}
	if _, w := completed[Writer](t, a, success("Tested."), work.FileChange{Path: "src/a.test.js", Status: "A"}); !w.TestWritten || w.TestFile != "src/a.test.js" || w.Summary != "Tested." {
		t.Errorf("with a test the section is %+v", w)
	}
}

func TestTheAnalystOwesABriefAndATest(t *testing.T) {
	a := assignment("analyst")
	if _, s := completed[Analysis](t, a, success("Round.")); s.Brief != "Round." || !s.Completed || s.TestRequirement.Description == "" {
		t.Errorf("of a summary alone comes %+v", s)
	}
	for owed, section := range map[string]string{"brief": `{"files": []}`, "test_requirement": `{"brief": "b", "test_requirement": {"required": true}}`} {
		r := success("")
		r.Sections = map[string]string{"analysis": section}
		if _, err := Complete(a, nil, r); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "analysis."+owed) {
			t.Errorf("without its %s it is answered %v", owed, err)
		}
	}
}

func TestTriageSaysWhetherToGoOn(t *testing.T) {
	a := assignment("triage")
	r := success("A question, no report.")
	r.Data = map[string]string{"should_proceed": "false"}
	if out, s := completed[Triage](t, a, r); s.ShouldProceed || text(s.RejectionReason) != "A question, no report." || out.Data["should_proceed"] != "false" || !s.Completed {
		t.Errorf("it stops with %+v, %v", s, out.Data)
	}
	if out, s := completed[Triage](t, a, success("")); !s.ShouldProceed || s.RejectionReason != nil || out.Data["should_proceed"] != "true" || out.Summary == "" {
		t.Errorf("it goes on with %+v, %v", s, out.Data)
	}
	r = success("")
	r.Sections = map[string]string{"triage": `{"should_proceed": false, "rejection_reason": "spam", "scope": "LARGE"}`}
	if out, s := completed[Triage](t, a, r); s.ShouldProceed || s.Scope != "LARGE" || out.Data["should_proceed"] != "false" || out.Summary != "spam" {
		t.Errorf("in the document it stops with %+v, %v", s, out.Data)
	}
}

func TestTheVerdictIsOneWhereverItIsSaid(t *testing.T) {
	for name, c := range map[string]struct {
		r        instance.Result
		want     Verdict
		feedback string
	}{
		"in the document":              {instance.Result{Status: instance.Success, Sections: map[string]string{"review": `{"verdict": "REJECTED", "feedback_for_writer": "null check"}`}}, Rejected, "null check"},
		"without a word to the writer": {instance.Result{Status: instance.Success, Sections: map[string]string{"review": `{"verdict": "REJECTED", "findings": {"issues": [{"file": "a.js", "line": 3, "issue": "null", "severity": "major"}]}}`}}, Rejected, "- a.js:3: null (major)"},
		"in the data":                  {instance.Result{Status: instance.Success, Summary: "Hm.", Data: map[string]string{"verdict": "NEEDS_INFO"}}, NeedsInfo, "old"},
		"by success":                   {success("Fine."), Approved, ""},
		"by success with issues":       {instance.Result{Status: instance.Success, IssuesFound: []string{"slow"}}, NeedsInfo, "old"},
		"by failure":                   {instance.Result{Status: instance.Failure, Summary: "No.", IssuesFound: []string{"slow"}}, Rejected, "No.\n- slow"},
		"by being blocked":             {instance.Result{Status: instance.Blocked, Summary: "Which?"}, NeedsInfo, "old"},
		"by rejecting alone":           {instance.Result{Status: instance.Failure}, Rejected, "did not say why"},
	} {
		t.Run(name, func(t *testing.T) {
			a := assignment("reviewer")
			a.Sections = map[string]json.RawMessage{"review": json.RawMessage(`{"verdict": "REJECTED", "feedback_for_writer": "old"}`)}
			out, s := completed[Review](t, a, c.r)
			if s.Verdict != c.want || out.Data["verdict"] != string(c.want) || !s.Completed || out.Summary == "" {
				t.Errorf("the verdict is %+v, %v", s, out.Data)
			}
			if !strings.Contains(text(s.FeedbackForWriter), c.feedback) || c.feedback == "" && s.FeedbackForWriter != nil {
				t.Errorf("the feedback is %q, want %q", text(s.FeedbackForWriter), c.feedback)
			}
		})
	}
}

func TestTheBuildIsWhatWasRun(t *testing.T) {
	tests := instance.Evidence{Name: "tests", OK: true, Command: "npm test", Passed: 3}
	lint := instance.Evidence{Name: "lint", Command: "npm run lint", ExitCode: 2, Output: "a.js:1: no semicolon"}
	a := assignment("build")
	r := instance.Result{Status: instance.Failure, Summary: "lint fails", Evidence: []instance.Evidence{tests, lint, {Name: "build"}}}
	r.Sections = map[string]string{"build": `{"lint_passed": true, "tests_passed": true, "commands_run": []}`}
	out, b := completed[Build](t, a, r)
	if !b.Completed || !b.TestsPassed || b.LintPassed || b.TypeCheckPassed || len(b.Errors) != 1 || !strings.Contains(b.Errors[0], "npm run lint\na.js:1") {
		t.Errorf("the section is %+v", b)
	}
	if want := (List[Command]{{"npm test", 0, "3 passed"}, {"npm run lint", 2, "a.js:1: no semicolon"}}); !slices.Equal(b.CommandsRun, want) {
		t.Errorf("the commands are %+v", b.CommandsRun)
	}
	if !strings.Contains(out.Summary, "Nothing is set up as type check: it did not run") || strings.Contains(out.Summary, "as lint") {
		t.Errorf("the summary is %q", out.Summary)
	}
	var review Review
	if err := json.Unmarshal([]byte(out.Sections["review"]), &review); err != nil || !strings.Contains(text(review.FeedbackForWriter), "no semicolon") || review.Completed {
		t.Errorf("the writer is told %q, %v", text(review.FeedbackForWriter), err)
	}

	doubted := success("")
	doubted.Evidence, doubted.Sections = []instance.Evidence{tests}, map[string]string{"build": `{"tests_passed": false, "errors": ["they test nothing"]}`}
	if out, b := completed[Build](t, a, doubted); out.Status != instance.Failure || b.TestsPassed || !slices.Equal(b.Errors, List[string]{"they test nothing"}) {
		t.Errorf("a pass that is doubted ends with %s, %+v", out.Status, b)
	}
	fine := success("")
	fine.Evidence = []instance.Evidence{tests}
	fine.Sections = map[string]string{"build": `{"tests_passed": true, "lint_passed": false, "errors": []}`} // it did not run
	if out, b := completed[Build](t, a, fine); out.Status != instance.Success || len(b.Errors) != 0 || b.LintPassed || out.Sections["review"] != "" {
		t.Errorf("a pass ends with %s, %+v, %v", out.Status, b, out.Sections)
	}
}

func TestAnAnswerCompletesNothing(t *testing.T) {
	a := assignment("analyst")
	a.Question = &a.Questions[0]
	if out, err := Complete(a, nil, success("Here.")); err != nil || len(out.Sections) != 0 || len(out.Data) != 0 {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestARequiredTestThatIsMissingRejectsTheChangeWhateverTheReviewerSays(t *testing.T) {
	const required, written = `{"completed": true, "test_requirement": {"required": true, "type": "unit", "location": "a_test.go", "description": "that it rounds"}}`, `{"test_written": true}`
	for name, c := range map[string]struct {
		analysis, writer string
		want             Verdict
	}{
		"a required test is missing":       {required, `{}`, Rejected},
		"a required test is there":         {required, written, Approved},
		"no test is required":              {`{"completed": true, "test_requirement": {"required": false}}`, `{}`, Approved},
		"a test of the repository will do": {`{"completed": true, "test_requirement": {"required": true, "type": "existing"}}`, `{}`, Approved},
	} {
		a := assignment("reviewer")
		a.Sections = map[string]json.RawMessage{"analysis": json.RawMessage(c.analysis), "writer": json.RawMessage(c.writer)}
		r := success("Looks good.")
		r.Sections = map[string]string{"review": `{"verdict": "APPROVED"}`}
		out, s := completed[Review](t, a, r)
		if s.Verdict != c.want || out.Data["verdict"] != string(c.want) {
			t.Errorf("%s: the verdict is %s, and %s for the rules", name, s.Verdict, out.Data["verdict"])
		}
		if c.want == Rejected && !strings.Contains(text(s.FeedbackForWriter), "that it rounds (a_test.go)") {
			t.Errorf("%s: the writer gets %q", name, text(s.FeedbackForWriter))
		}
		a = assignment("build")
		a.Sections = map[string]json.RawMessage{"analysis": json.RawMessage(c.analysis), "writer": json.RawMessage(c.writer)}
		if out, _ := completed[Build](t, a, success("")); out.Data["test_missing"] != strconv.FormatBool(c.want == Rejected) {
			t.Errorf("%s: test_missing is %q", name, out.Data["test_missing"])
		}
	}
}

func TestANewTestInAFileOfTheProductIsWritten(t *testing.T) {
	a := assignment("build")
	a.Sections = map[string]json.RawMessage{"analysis": json.RawMessage(`{"completed": true, "test_requirement": {"required": true, "type": "unit"}}`)}
	r := success("")
	r.Evidence = []instance.Evidence{{Name: work.Tests, OK: true, Judgement: &verdict.Judgement{Tests: []verdict.ShownTest{{Name: "round::tests::up", By: "writer"}}}}}
	out, err := Complete(a, nil, r)
	if err != nil || out.Data["test_missing"] != "false" || out.Sections["writer"] != "" {
		t.Errorf("test_missing is %q, the writer's section %q: %v", out.Data["test_missing"], out.Sections["writer"], err)
	}
}
