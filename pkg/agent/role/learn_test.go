package role_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/learning"
)

func TestAPromptHasWhatWasLearnedOfTheFilesThatTheWorkChanges(t *testing.T) {
	e := newEnv(t, map[string]string{"go.mod": "module x\n"})
	first := e.done("developer", "implementing", writes(map[string]string{"pkg/api/a.go": "package api\n"}))
	job := e.job("developer", "fixing_issues", first)
	job.Learnings = func(context.Context) ([]learning.Learning, error) {
		confirmed := func(id, path, text string) learning.Learning {
			return learning.Learning{ID: id, Path: path, Text: text, By: "operator:ann", ConfirmedBy: "operator:ann", State: learning.StateConfirmed}
		}
		known := confirmed("4", "", "All is checked by make.")
		known.Used = []string{job.Instance}
		return []learning.Learning{confirmed("1", "docs", "Docs are built."), confirmed("2", "pkg/api", "Handlers are generated."),
			confirmed("3", "", "Tests need TZ=UTC."), known}, nil
	}
	var used, learned []string
	job.Used = func(_ context.Context, ids []string) error { used = append(used, ids...); return nil }
	job.Learned = func(_ context.Context, path, text string) error {
		learned = append(learned, path+": "+text)
		return errors.New("it is not the step's fault")
	}
	const says = `echo '{"status":"failure","summary":"no","learnings":[{"path":"pkg","text":"a"},"b",{"text":"c"},{"text":"d"}]}' >$SIGNALBOX_RESULT`
	r, err := e.do(job, program(t, says, ""))
	if err != nil || r.Status != instance.Failure {
		t.Fatalf("%+v, %v", r, err)
	}
	asked := e.artifact(r, "fixing_issues.prompt")
	if at, whole := strings.Index(asked, "Handlers are generated."), strings.Index(asked, "Tests need TZ=UTC."); at < 0 || whole < at ||
		strings.Contains(asked, "Docs are built.") {
		t.Errorf("it is asked\n%s", asked)
	}
	if got := strings.Join(used, " "); got != "2 3" {
		t.Errorf("used are %q", got)
	}
	if got := strings.Join(learned, ", "); got != "pkg: a, : b, : c" {
		t.Errorf("learned is %q", got)
	}
	job.Learnings = func(context.Context) ([]learning.Learning, error) { return nil, errors.New("nobody answers") }
	if r, err := e.do(job, program(t, says, "")); err != nil || strings.Contains(e.artifact(r, "fixing_issues.prompt"), "learned here") {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestAFlakyTestIsLearnedOnceAndByItsName(t *testing.T) {
	needs(t, "python3")
	ran := filepath.Join(t.TempDir(), "ran")
	// A red base is run once more without the variables that Signalbox sets, so it fails twice.
	flips := fmt.Sprintf("import os, unittest\n\nclass Flips(unittest.TestCase):\n    def test_flips(self):\n        with open('%s', 'a') as f:\n            f.write('x')\n        "+
		"self.assertGreater(os.path.getsize('%s'), 2)\n", ran, ran)
	e := newEnv(t, with(pyRepository(), "test_flips.py", flips))
	job := e.testing([]string{"tester"}, e.left("developer", map[string]string{"sums.py": pyRight}))
	if err := os.Remove(ran); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	var learned []string
	job.Learned = func(_ context.Context, path, text string) error {
		learned = append(learned, path+text)
		return nil
	}
	r, err := e.do(job, thinks(func(context.Context, brain.Assignment) (brain.Outcome, error) { return says(instance.Success), nil }))
	if err != nil || len(r.Evidence) != 1 || len(r.Evidence[0].Judgement.Flaky) != 1 {
		t.Fatalf("it ended with %+v, %v", r.Evidence[0].Judgement, err)
	}
	want := "The test " + r.Evidence[0].Judgement.Flaky[0].Name + " is flaky: it fails and passes on the same commit."
	if len(learned) != 1 || learned[0] != want {
		t.Errorf("learned is %q, want %q", learned, want)
	}
}
