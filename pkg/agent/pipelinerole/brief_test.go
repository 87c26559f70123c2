package pipelinerole_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/pipelinerole"
	"github.com/signalbox/signalbox/pkg/document/pipeline"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// inPipeline is a role's work in its state of the pipeline.
func inPipeline(role, section string, issue instance.Issue) brain.Assignment {
	return brain.Assignment{Instance: "i", Workflow: "pipeline", Role: role, State: role, Writes: []string{section}, Issue: issue}
}

// think has a brain work and returns its section.
func think[T any](t *testing.T, b brain.Brain, a brain.Assignment) (instance.Result, T) {
	t.Helper()
	out, err := b.Work(t.Context(), a)
	var section T
	if err == nil {
		err = json.Unmarshal([]byte(out.Result.Sections[a.Writes[0]]), &section)
	}
	if err != nil || !out.Declared {
		t.Fatalf("%s ends with %+v, %v", a.Role, out, err)
	}
	return out.Result, section
}

func TestTriageTakesUpWhatThereIsSomethingToDoAbout(t *testing.T) {
	for name, c := range map[string]struct {
		issue    instance.Issue
		proceeds bool
		status   instance.Status
	}{
		"a report":               {instance.Issue{Title: "Sum", Body: "It says 5."}, true, instance.Success},
		"a title that says much": {instance.Issue{Title: "The sum of 2 and 2 is 5"}, true, instance.Success},
		"a question":             {instance.Issue{Title: "Sum", Body: "Why?", Labels: []string{"Question"}}, false, instance.Success},
		"a duplicate":            {instance.Issue{Title: "Sum", Body: "It says 5.", Labels: []string{"bug", "duplicate"}}, false, instance.Success},
		"one on hold":            {instance.Issue{Title: "Sum", Body: "It says 5.", Labels: []string{"on-hold"}}, false, instance.Success},
		"nothing at all":         {instance.Issue{Title: "Broken"}, true, instance.Blocked},
	} {
		r, s := think[pipeline.Triage](t, pipelinerole.Triage{}, inPipeline("triage", "triage", c.issue))
		if r.Status != c.status || s.ShouldProceed != c.proceeds || (s.RejectionReason == nil) != c.proceeds || s.Scope != "SMALL" || s.Complexity != "simple" {
			t.Errorf("%s: %+v, %+v", name, r, s)
		}
	}
}

const reported = `The list ends a page early.

Steps: run ` + "`list --page 3`" + ` with 25 widgets. It prints nothing. Expected: five widgets.

- [ ] the last page is shown
- [x] there is an issue

Do not change api.json. The code is in page.go.`

func TestABriefSaysWhatTheReportSaysAndWhereItIs(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"src/page.go", "src/page_test.go", "go.mod", "api.json", "node_modules/x/page.go"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte("module x\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	a := inPipeline("analyst", "analysis", instance.Issue{Title: "The last page is missing", Body: reported, Labels: []string{"bug"}})
	a.Dir = dir
	r, s := think[pipeline.Analysis](t, pipelinerole.Brief{}, a)
	if r.Status != instance.Success || !s.Completed || !slices.Equal(s.MustNotDo, []string{"Do not change api.json"}) || s.MustDo[0] != "the last page is shown" {
		t.Errorf("%+v, %+v", r, s)
	}
	if len(s.Files) != 1 || s.Files[0].Path != "src/page.go" || s.TestRequirement.Location != "src/page_test.go" || !s.TestRequirement.Required || s.TestRequirement.Type != "regression" {
		t.Errorf("the files are %+v, the test %+v", s.Files, s.TestRequirement)
	}
	for _, want := range []string{"# The last page is missing", "> The list ends a page early.", "- the last page is shown", "## Not to do", "- `src/page.go`", "go test"} {
		if !strings.Contains(s.Brief, want) {
			t.Errorf("no %q in\n%s", want, s.Brief)
		}
	}
	for said, want := range map[string]string{
		"The test TestPages fails.":                "existing",
		"Done when: the tests pass.":               "existing",
		"It is fixed once all existing tests pass": "existing",
		"Done when the last page has a test.":      "regression",
		"Today the tests pass.":                    "regression",
	} {
		a.Issue.Body = reported + "\n" + said
		if _, s := think[pipeline.Analysis](t, pipelinerole.Brief{}, a); s.TestRequirement.Type != want {
			t.Errorf("of %q it wants %+v", said, s.TestRequirement)
		}
	}
}

func TestABriefThatWouldRestOnNothingIsAskedFor(t *testing.T) {
	a := inPipeline("analyst", "analysis", instance.Issue{Title: "Broken list", Body: "Please fix."})
	r, s := think[pipeline.Analysis](t, pipelinerole.Brief{}, a)
	if r.Status != instance.Blocked || s.Completed || len(r.Questions) == 0 || !strings.HasPrefix(r.Summary, "unclear requirements") {
		t.Fatalf("%+v, %+v", r, s)
	}
	for i, q := range r.Questions {
		a.Questions = append(a.Questions, instance.Question{Number: i + 1, From: "analyst", Text: q})
	}
	a.Notes = []instance.NoteEntry{{Author: "ann", Kind: "commented", Text: "Steps: run list --page 3 with 25 widgets.\n\nExpected: five widgets.\n\nActual: it prints nothing at all."}}
	r, s = think[pipeline.Analysis](t, pipelinerole.Brief{}, a)
	if r.Status != instance.Success || len(r.Answers) == 0 || !strings.Contains(s.Brief, "Later a person said") || !strings.Contains(s.Brief, "five widgets") {
		t.Errorf("after an answer: %+v\n%s", r, s.Brief)
	}
}

func TestTheAnalystOfTheIssueLifecycleIsAnother(t *testing.T) {
	b := pipelinerole.Document{}.Brain("analyst")
	a := inPipeline("analyst", "analysis", instance.Issue{Title: "The last page is missing", Body: reported})
	with, err := b.Work(t.Context(), a)
	a.Writes, a.Workflow, a.State = nil, "issue", "analyzing_requirements"
	without, err2 := b.Work(t.Context(), a)
	if err != nil || err2 != nil || len(with.Result.Sections) != 1 || len(without.Result.Sections) != 0 || without.Result.Data["kind"] == "" {
		t.Errorf("%+v, %v and %+v, %v", with.Result, err, without.Result, err2)
	}
}
