package role_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// answers is a brain that leaves the files and answers so.
func answers(files map[string]string, change func(*brain.Outcome)) thinks {
	return func(ctx context.Context, a brain.Assignment) (brain.Outcome, error) {
		out, err := writes(files)(ctx, a)
		change(&out)
		return out, err
	}
}

func TestARoleNobodyKnowsIsAPlainCoder(t *testing.T) {
	w := newEnv(t, map[string]string{config: byFile, "check.sh": fail})
	r, err := w.do(w.in("library", "librarian", "lend", ""), writes(map[string]string{"a.sh": "x\n"}))
	if err != nil || r.Status != instance.Success || r.Evidence != nil || w.content("a.sh", r) != "x" {
		t.Errorf("it ended with %+v, %v", r, err)
	}
	r, err = w.do(w.in("library", "librarian", "lend", ""), saying(instance.Success))
	if err != nil || r.Status != instance.Success || r.Head != "" {
		t.Errorf("without a change it ended with %+v, %v", r, err)
	}
}

func TestWhatAJudgeChangesIsDropped(t *testing.T) {
	w := newEnv(t, map[string]string{})
	r, err := w.do(w.in("task", "solution-validator", "planning", ""), writes(map[string]string{"a.sh": "x\n"}))
	if err != nil || r.Status != instance.Success || r.Head != "" || r.Bundle != "" {
		t.Errorf("it ended with %+v, %v", r, err)
	}
	r, err = w.do(w.in("task", "solution-validator", "planning", ""), answers(nil, func(out *brain.Outcome) { out.Declared = false }))
	if err == nil || !strings.Contains(err.Error(), "gives no judgement") {
		t.Errorf("without a word it ended with %+v, %v", r, err)
	}
}

func TestWhoChangesTheCodeSetsNoVariables(t *testing.T) {
	says := func(out *brain.Outcome) { out.Result.Data = map[string]string{"verdict": "APPROVED"} }
	w := newEnv(t, map[string]string{})
	r, err := w.do(w.in("pipeline", "writer", "writer", ""), answers(map[string]string{"a.sh": "x\n"}, says))
	if err != nil || r.Status != instance.Success || r.Data != nil || len(r.IssuesFound) > 0 {
		t.Errorf("a writer ended with %+v, %v", r, err)
	}
	r, err = w.do(w.in("pipeline", "reviewer", "reviewer", ""), answers(nil, says))
	if err != nil || r.Data["verdict"] != "APPROVED" {
		t.Errorf("a reviewer ended with %+v, %v", r, err)
	}
}

func TestABuildIsAllChecksOfTheRepositoryOnTheVeryCommit(t *testing.T) {
	const lint, types = "lint: {command: sh lint.sh}\n", "type_check: {command: sh types.sh}\n"
	for name, c := range map[string]struct {
		files  map[string]string
		checks []string
		failed []string
	}{
		"tests alone":     {map[string]string{config: byFile, "check.sh": pass}, []string{"tests", "build"}, nil},
		"all that pass":   {map[string]string{config: byFile + lint + types, "check.sh": pass, "lint.sh": pass, "types.sh": pass}, []string{"tests", "lint", "type_check", "build"}, nil},
		"one that fails":  {map[string]string{config: byFile + lint, "check.sh": pass, "lint.sh": fail}, []string{"tests", "lint", "build"}, []string{"sh lint.sh"}},
		"no way to test":  {map[string]string{config: lint, "lint.sh": pass}, []string{"tests", "lint", "build"}, []string{"tests"}},
		"what cannot run": {map[string]string{config: "test: [", "check.sh": pass}, []string{"tests", "lint", "type_check", "build"}, []string{"tests", "lint", "type_check"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t, c.files)
			r, err := w.do(w.in("pipeline", "build", "build", ""), saying(instance.Success))
			if err != nil {
				t.Fatal(err)
			}
			var checks []string
			for _, ev := range r.Evidence {
				checks = append(checks, ev.Name)
				if ev.Commit != w.base {
					t.Errorf("%s is of %s", ev.Name, ev.Commit)
				}
			}
			whole := r.Evidence[len(r.Evidence)-1]
			if !slices.Equal(checks, c.checks) || !slices.Equal(whole.Failed, c.failed) || whole.OK != (c.failed == nil) {
				t.Errorf("checked are %q, failed %q: %+v", checks, whole.Failed, whole)
			}
			if want := map[bool]instance.Status{true: instance.Success, false: instance.Failure}[whole.OK]; r.Status != want || (r.FailureSignature == "") != whole.OK {
				t.Errorf("it ended with %+v", r)
			}
		})
	}
}

func TestAnAnswerIsWorkToo(t *testing.T) {
	quiet := func(out *brain.Outcome) { out.Declared, out.Result.Summary = false, "" }
	said := func(out *brain.Outcome) { out.Declared = false }
	for name, c := range map[string]struct {
		job   [4]string
		think brain.Brain
		fails string
		head  bool
	}{
		"an answer in words":            {[4]string{"pipeline", "analyst", "writer", "Where is it?"}, answers(nil, said), "", false},
		"no answer":                     {[4]string{"pipeline", "analyst", "writer", "Where is it?"}, answers(nil, quiet), "gave no answer", false},
		"a change":                      {[4]string{"pipeline", "analyst", "writer", "Add it."}, writes(map[string]string{"a.sh": "x\n"}), "", true},
		"a review worked in":            {[4]string{"story", "developer", "pushed", "Rename it."}, writes(map[string]string{"a.sh": "x\n"}), "", true},
		"a review left undone":          {[4]string{"story", "developer", "pushed", "Rename it."}, answers(nil, said), "left no change", false},
		"a review that needs no change": {[4]string{"story", "developer", "pushed", "Why?"}, saying(instance.Success), "", false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t, map[string]string{config: byFile, "check.sh": pass})
			r, err := w.do(w.in(c.job[0], c.job[1], c.job[2], c.job[3]), c.think)
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Errorf("it ended with %+v, %v", r, err)
				}
				return
			}
			if err != nil || r.Status != instance.Success || (r.Head != "") != c.head || (len(r.Evidence) > 0) != (c.job[0] == "story") {
				t.Errorf("it ended with %+v, %v", r, err)
			}
		})
	}
}

// Commits that nobody tested are work enough: a developer that was not sure enough, or that
// asked, may have nothing to add.
func TestWhatWasLeftAndNotTestedIsWorkEnough(t *testing.T) {
	e := newEnv(t, map[string]string{config: byFile, "check.sh": pass})
	left, err := e.work("developer", "implementing", writes(map[string]string{"a.sh": "x\n"}))
	if err != nil || left.Head == "" {
		t.Fatalf("it left %+v, %v", left, err)
	}
	for name, c := range map[string]struct {
		workflow, role, state, by string
		evidence                  []instance.Evidence
		enough                    bool
	}{
		"its own":                      {"issue", "developer", "fixing_issues", "developer", nil, true},
		"its own, an older one tested": {"issue", "developer", "fixing_issues", "developer", []instance.Evidence{{Name: "tests", Commit: e.base}}, true},
		"its own, which failed":        {"issue", "developer", "fixing_issues", "developer", []instance.Evidence{{Name: "tests", Commit: left.Head}}, false},
		"its own, which passed":        {"issue", "developer", "fixing_issues", "developer", []instance.Evidence{{Name: "tests", Commit: left.Head, OK: true}}, false},
		"another role's":               {"issue", "developer", "fixing_issues", "tester", nil, false},
		"a writer's that asked":        {"pipeline", "writer", "writer", "writer", nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			for _, declared := range []bool{true, false} {
				job := e.job(c.role, c.state, left)
				job.Workflow, job.Evidence, job.Bundles[1].Role = c.workflow, c.evidence, c.by
				r, err := e.do(job, answers(nil, func(out *brain.Outcome) { out.Declared = declared }))
				if c.enough && (err != nil || r.Status != instance.Success || r.Head != "") {
					t.Errorf("it ended with %+v, %v", r, err)
				}
				if !c.enough && (err == nil || !strings.Contains(err.Error(), "left no change")) {
					t.Errorf("it ended with %+v, %v", r, err)
				}
			}
		})
	}
}

func TestWhoAsksOrEscalatesDoesNotReport(t *testing.T) {
	asks := func(out *brain.Outcome) {
		out.Result.Status, out.Asks = instance.Blocked, []instance.Inquiry{{To: "analyst", Question: "Where?"}}
		out.Result.Sections = map[string]string{"writer": `{"half":1}`, "review": "{}"}
	}
	escalates := func(human bool) func(*brain.Outcome) {
		return func(out *brain.Outcome) {
			out.Escalate = &brain.Escalation{Reason: "The login\x1b[31m", RequiresHuman: human}
			out.Result.Sections = map[string]string{"writer": `{"half":2}`, "review": "{}"}
		}
	}
	w := newEnv(t, map[string]string{})
	job := w.in("pipeline", "writer", "writer", "")
	job.Writes = []string{"writer"}
	work := map[string]string{"half.sh": "half\n"}
	wrote := func(sections map[string]string, text string) bool {
		return len(sections) == 1 && sections["writer"] == text
	}
	asking, escalating := new(agent.ErrAsk), new(agent.ErrEscalate)

	r, err := w.do(job, answers(work, asks))
	if !errors.As(err, &asking) || asking.Questions[0].To != "analyst" || asking.Head != r.Head || asking.Bundle == "" || !wrote(asking.Sections, `{"half":1}`) || w.content("half.sh", r) != "half" {
		t.Errorf("who asks hands over %+v, %+v, %v", asking, r, err)
	}
	if _, err = w.do(job, answers(nil, asks)); !errors.As(err, &asking) || asking.Head != "" || asking.Bundle != "" || !wrote(asking.Sections, `{"half":1}`) {
		t.Errorf("who asks without a change hands over %+v, %v", asking, err)
	}
	r, err = w.do(job, answers(work, escalates(true)))
	if !errors.As(err, &escalating) || !escalating.RequiresHuman || escalating.Reason != "The login[31m" || escalating.Then != nil {
		t.Errorf("who needs people says %+v, %v", escalating, err)
	}
	if escalating.Head != r.Head || escalating.Bundle == "" || !wrote(escalating.Sections, `{"half":2}`) || w.content("half.sh", r) != "half" {
		t.Errorf("who needs people hands over %+v, %+v", escalating, r)
	}
	blocked := func(out *brain.Outcome) {
		escalates(true)(out)
		out.Result.Status, out.Declared = instance.Blocked, false
	}
	if r, err = w.do(job, answers(map[string]string{"more.sh": "more\n"}, blocked)); !errors.As(err, &escalating) || escalating.Head == "" || w.content("more.sh", r) != "more" {
		t.Errorf("who is blocked and needs people hands over %+v, %v", escalating, err)
	}
	if _, err = w.do(job, answers(nil, escalates(true))); !errors.As(err, &escalating) || escalating.Then != nil || escalating.Head != "" || !wrote(escalating.Sections, `{"half":2}`) {
		t.Errorf("who needs people without a change hands over %+v, %v", escalating, err)
	}
	secret := map[string]string{"key.sh": "ghp_" + strings.Repeat("a1B2", 9) + "\n"}
	if _, err = w.do(job, answers(secret, escalates(true))); !errors.As(err, &escalating) || !escalating.RequiresHuman || escalating.Head != "" || len(escalating.Sections) != 0 || !strings.Contains(escalating.Reason, "may not leave") {
		t.Errorf("who needs people and may hand nothing over says %+v, %v", escalating, err)
	}
	r, err = w.do(job, answers(work, escalates(false)))
	if !errors.As(err, &escalating) || escalating.RequiresHuman || escalating.Then != nil || r.Status != instance.Success || r.Head == "" || escalating.Head != "" || r.Sections["writer"] == "" {
		t.Errorf("who only tells people says %+v, %+v, %v", escalating, r, err)
	}
	_, err = w.do(job, answers(work, func(out *brain.Outcome) { asks(out); escalates(false)(out) }))
	if !errors.As(err, &escalating) || !errors.As(escalating.Then, &asking) {
		t.Errorf("who does both says %+v, %v", escalating, err)
	}
	_, err = w.do(job, answers(nil, escalates(false)))
	if !errors.As(err, &escalating) || escalating.Then == nil || !strings.Contains(escalating.Then.Error(), "no change") {
		t.Errorf("who fails and tells people says %+v, %v", escalating, err)
	}
}

func TestSectionsOfOthersAreRefusedByNameAndNotesAreKept(t *testing.T) {
	w := newEnv(t, map[string]string{})
	job := w.in("pipeline", "analyst", "analyst", "")
	job.Writes, job.Sections = []string{"analysis"}, map[string]json.RawMessage{"writer": json.RawMessage("{}")}
	var progress, notes []string
	job.Progress = func(format string, args ...any) { progress = append(progress, strings.TrimSpace(format)) }
	job.Note = func(_ context.Context, kind, text string) error { notes = append(notes, kind+": "+text); return nil }
	r, err := w.do(job, answers(nil, func(out *brain.Outcome) {
		out.Result.Sections = map[string]string{"analysis": `{"brief":"b"}`, "writer": `{}`}
		out.Refused = []string{"pipeline.status is not the analyst's to write"}
		out.Notes = []instance.NoteEntry{{Kind: "pattern_discovered", Text: "It uses lodash."}}
	}))
	if err != nil || len(r.Sections) != 1 || !strings.Contains(r.Sections["analysis"], `"brief":"b"`) {
		t.Errorf("it ended with %+v, %v", r, err)
	}
	if found := strings.Join(r.IssuesFound, "\n"); !strings.Contains(found, "pipeline.status") || !strings.Contains(found, "section writer") || len(r.IssuesFound) != 2 {
		t.Errorf("told is %q", r.IssuesFound)
	}
	if n := len(slices.DeleteFunc(progress, func(p string) bool { return !strings.HasPrefix(p, "refused") })); n != 2 {
		t.Errorf("of %q, %d are refusals", progress, n)
	}
	if !slices.Equal(notes, []string{"pattern_discovered: It uses lodash."}) {
		t.Errorf("kept is %q", notes)
	}
}
