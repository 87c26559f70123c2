package rules_test

import (
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

var sources = map[string]string{
	"go.mod": "module example.com/m\n", "money.go": "package money\n", "money_test.go": "package money\n",
	"web/app.ts": "export {}\n", "web/style.css": "a {}\n", "README.md": "# M\n",
}

func TestTheValidatorApprovesWhatIsDescribedAndHasCode(t *testing.T) {
	with := change(t, sources, nil)
	for name, c := range map[string]struct {
		a     brain.Assignment
		issue instance.Issue
		notes []instance.NoteEntry
		want  instance.Status
		says  string
	}{
		"code and a description":    {with, instance.Issue{Title: "Round", Body: "Half up, please."}, nil, instance.Success, "a description of 4 words. `go test"},
		"a title that says it":      {with, instance.Issue{Title: "Round half up"}, nil, instance.Success, "3 words"},
		"what people said of it":    {with, instance.Issue{Title: "Round"}, []instance.NoteEntry{{Kind: "commented", Author: "ann", Text: "Half up."}}, instance.Success, "3 words"},
		"a title that says nothing": {with, instance.Issue{Title: "Round"}, nil, instance.Failure, `nothing describes "Round"`},
		"no code":                   {brain.Assignment{}, instance.Issue{Title: "Round half up"}, nil, instance.Failure, "there is no code to change"},
	} {
		t.Run(name, func(t *testing.T) {
			c.a.State, c.a.Issue, c.a.Notes = "planning", c.issue, c.notes
			out, err := rules.Validator{}.Work(t.Context(), c.a)
			if r := out.Result; err != nil || !out.Declared || r.Status != c.want || !strings.Contains(r.Summary, c.says) {
				t.Errorf("%v %+v, want %s: %s", err, r, c.want, c.says)
			}
		})
	}
}

func TestQualityTakesTestsAndAChangeThatHolds(t *testing.T) {
	const todo = "TO" + "DO"
	clean := change(t, sources, map[string]string{"money.go": "package money\n\n// Half up.\n"})
	left := change(t, sources, map[string]string{"money.go": "package money\n\n// " + todo + ": half up.\n"})
	for name, c := range map[string]struct {
		a    brain.Assignment
		ok   bool
		from string
		want instance.Status
		says string
	}{
		"both":                         {clean, true, "", instance.Success, "1 test passes. Files changed: 1"},
		"tests that fail":              {clean, false, "", instance.Failure, "1 of 2 tests fails: TestRound"},
		"what was left in it":          {left, true, "", instance.Failure, "leftover " + todo},
		"what others had left in it":   {left, true, left.Head, instance.Failure, "nothing was changed"},
		"a change of the task's alone": {clean, true, clean.Base, instance.Success, "Nothing found."},
	} {
		t.Run(name, func(t *testing.T) {
			ev := instance.Evidence{Name: "tests", OK: c.ok, Commit: c.a.Head, Command: "go test ./...", Passed: 1}
			if !c.ok {
				ev.ExitCode, ev.Failed = 1, []string{"TestRound"}
			}
			c.a.State, c.a.Evidence, c.a.Vars = "quality_review", []instance.Evidence{ev}, map[string]string{"starts_at": c.from}
			out, err := rules.Quality{}.Work(t.Context(), c.a)
			if r := out.Result; err != nil || r.Status != c.want || !strings.Contains(r.Summary, c.says) {
				t.Errorf("%v %+v, want %s: %s", err, r, c.want, c.says)
			}
		})
	}
}

func TestTheCTOTellsWhatFailedAndWhereToGoOn(t *testing.T) {
	round := []string{"in_progress", "testing"}
	ways := []string{"planning", "in_progress", "quality_review", "committing", "human_escalation", "testing", "cto_intervention"}
	red := []instance.Evidence{{Name: "tests", Commit: "c1", Command: "go test ./...", ExitCode: 1, Passed: 1, Failed: []string{"TestRound"}, Output: "--- FAIL: TestRound\n    want 2, got 1\n"}}
	for name, c := range map[string]struct {
		previous []string
		last     instance.Result
		evidence []instance.Evidence
		next     string
		says     []string
		not      string
	}{
		"no approach": {[]string{"pending", "assigned", "planning", "planning", "planning"}, instance.Result{Summary: "Rejected: nothing describes it"}, nil,
			"", []string{"`planning` failed 3 times.", "The last time: Rejected: nothing describes it."}, "first guidance"},
		"self-checks": {append(append(append([]string{"planning"}, round...), round...), round...), instance.Result{Summary: "1 of 2 tests fail"}, red,
			"in_progress", []string{"`testing` failed 3 times.", "Make these pass: TestRound.", "want 2, got 1"}, "first guidance"},
		"the second time": {[]string{"in_progress", "in_progress", "in_progress", "cto_intervention", "in_progress"}, instance.Result{IssuesFound: []string{"a.go is too long"}}, nil,
			"", []string{"`in_progress` failed 3 times.", "Mend each of these: a.go is too long.", "This is not the first guidance"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := rules.CTO{}.Work(t.Context(), brain.Assignment{State: "cto_intervention", Previous: c.previous, Last: &c.last, Evidence: c.evidence, Next: ways})
			r := out.Result
			if err != nil || r.Status != instance.Success || r.Next != c.next || len(out.Notes) != 1 || out.Notes[0].Text != r.Summary {
				t.Errorf("%v %+v, want on to %s", err, out, c.next)
			}
			for _, words := range c.says {
				if !strings.Contains(r.Summary, words) {
					t.Errorf("%q does not say %q", r.Summary, words)
				}
			}
			if c.not != "" && strings.Contains(r.Summary, c.not) {
				t.Errorf("%q says %q", r.Summary, c.not)
			}
		})
	}
}

func TestTheCTOReviewsACodebase(t *testing.T) {
	a := change(t, sources, nil)
	a.State, a.Question = "pending", &instance.Question{From: "orchestrator", To: "cto", Text: "Review the codebase."}
	out, err := rules.CTO{}.Work(t.Context(), a)
	want := "Files: 6, tests among them: 1. Languages: Go (2), CSS (1), TypeScript (1). Tests are run by `go test -json ./...`.\n" +
		"Layout: web/ (2), README.md (1), go.mod (1), money.go (1), money_test.go (1)."
	if err != nil || out.Result.Status != instance.Success || out.Result.Summary != want {
		t.Errorf("%v\ngot  %s\nwant %s", err, out.Result.Summary, want)
	}
	a.Question.From = "fullstack-developer"
	if out, err := (rules.CTO{}).Work(t.Context(), a); err != nil || out.Result.Status != instance.Blocked {
		t.Errorf("another's question: %v %+v, want it blocked", err, out.Result)
	}
}
