package role_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/pipelinerole"
	"github.com/signalbox/signalbox/pkg/agent/role"
	"github.com/signalbox/signalbox/pkg/document/pipeline"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// inPipeline is a role's work in its state of the pipeline, after the steps.
func (e *env) inPipeline(name, section string, analysis string, steps ...instance.Result) agent.Job {
	job := e.job(name, name, steps...)
	job.Workflow = "pipeline"
	job.Writes = []string{section}
	job.Sections = map[string]json.RawMessage{"analysis": json.RawMessage(analysis)}
	return job
}

// section is one of a result.
func section[T any](t *testing.T, r instance.Result, name string) (s T) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.Sections[name]), &s); err != nil {
		t.Fatalf("section %s of %+v: %v", name, r, err)
	}
	return s
}

const spares = `{"must_not_do": ["Don't modify README or docs/", "Don't touch go.mod", "Keep it simple"]}`

func TestWhatTheAnalysisForbidsDoesNotLeaveTheTree(t *testing.T) {
	w := newEnv(t, map[string]string{"go.mod": "module x\n"})
	job := w.inPipeline("writer", "writer", spares)
	r, err := w.do(job, writes(map[string]string{"a.go": "package a\n", "go.mod": "module y\n", "docs/a.md": "x"}))
	if err == nil || r.Head != "" || len(r.Sections) != 0 || len(r.IssuesFound) != 2 || !strings.Contains(err.Error(), "go.mod: the analysis forbids “Don't touch go.mod”") || !strings.Contains(err.Error(), "docs/a.md") {
		t.Errorf("it ended with %+v, %v", r, err)
	}
	r, err = w.do(job, writes(map[string]string{"a.go": "package a\n", "a_test.go": "package a\n"}))
	s := section[pipeline.Writer](t, r, "writer")
	if err != nil || r.Head == "" || !s.Completed || !s.TestWritten || s.TestFile != "a_test.go" || len(s.Changes) != 2 {
		t.Errorf("it ended with %+v, %v: %+v", r, err, s)
	}
}

func TestTheBuildRunsAllThatIsSetUpAndFailsForTheWriter(t *testing.T) {
	w := newEnv(t, map[string]string{config: "test: {command: sh check.sh}\nlint: {command: sh lint.sh}\n", "check.sh": pass, "lint.sh": "echo line 3: no; exit 2\n"})
	brains, err := role.Specs{}.Build("build", role.Tools{Document: pipelinerole.Document{}})
	if err != nil {
		t.Fatal(err)
	}
	job := w.inPipeline("build", "build", `{}`)
	job.Writes = []string{"build", "review"}
	r, err := w.do(job, brains.Default)
	b, review := section[pipeline.Build](t, r, "build"), section[pipeline.Review](t, r, "review")
	if err != nil || r.Status != instance.Failure || !b.TestsPassed || b.LintPassed || b.TypeCheckPassed || len(b.CommandsRun) != 2 || b.CommandsRun[1].ExitCode != 2 {
		t.Errorf("it ended with %+v, %v: %+v", r, err, b)
	}
	if review.FeedbackForWriter == nil || !strings.Contains(*review.FeedbackForWriter, "line 3: no") || !strings.Contains(r.Summary, "Nothing is set up as type check") {
		t.Errorf("the writer is told %+v, people %q", review, r.Summary)
	}
	i := slices.IndexFunc(r.Evidence, func(ev instance.Evidence) bool { return ev.Name == "build" })
	if i < 0 || r.Evidence[i].OK || r.Evidence[i].Commit != w.base {
		t.Errorf("the evidence is %+v", r.Evidence)
	}
}

func TestTheRulesTakeTheWholeWay(t *testing.T) {
	for name, state := range map[string]string{"triage": "triage", "analyst": "analysis", "reviewer": "review"} {
		brains, err := role.Specs{}.Build(name, role.Tools{Document: pipelinerole.Document{}})
		if err != nil {
			t.Fatal(err)
		}
		w := newEnv(t, map[string]string{"a.go": "package a\n"})
		step := w.done("developer", "implementing", writes(map[string]string{"a.go": "package b\n", "a_test.go": "package b\n"}))
		job := w.inPipeline(name, state, `{"test_requirement": {"required": true}}`, step)
		job.Issue.Body = "The sum of 2 and 2 is 5. Expected: 4. Run `sum 2 2`."
		job.Sections["writer"] = json.RawMessage(`{"test_written": true}`)
		r, err := w.do(job, brains.Default)
		if err != nil || r.Status != instance.Success || !strings.Contains(r.Sections[state], `"completed":true`) {
			t.Errorf("%s ended with %+v, %v", name, r, err)
		}
	}
}
