package role_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

func TestAllAcceptanceCriteriaPassOnTheCommitOrItIsNotAccepted(t *testing.T) {
	change := map[string]string{"sum.sh": "two\n"}
	for name, c := range map[string]struct {
		criteria string // JSON
		change   map[string]string
		ok       bool
		command  string
		failed   []string
		says     string // of the output
	}{
		"one command": {
			"[\"`test -f sum.sh`\"]", change, true, "test -f sum.sh", nil, "",
		},
		"several, of either form": {
			"[\"`test -f sum.sh` passes\", {\"command\": \"grep -q two sum.sh\"}]", change, true, "test -f sum.sh && grep -q two sum.sh", nil, "",
		},
		"prose beside them": {
			"[\"The sum is right\", \"`test -f sum.sh`\"]", change, true, "test -f sum.sh", nil, "",
		},
		"one of several fails": {
			"[{\"command\": \"cat sum.sh; exit 3\"}, \"`test -f sum.sh`\"]", change, false, "cat sum.sh; exit 3 && test -f sum.sh", []string{"cat sum.sh; exit 3"}, "two",
		},
		"what is beside the commit does not count": {
			"[{\"command\": \"test -f built\"}]", map[string]string{".gitignore": "built\n", "built": "x"}, false, "test -f built", []string{"test -f built"}, "",
		},
		"prose alone: the repository's own tests": {
			"[\"The sum is right\"]", change, true, "sh check.sh", nil, "",
		},
		"prose alone, and the tests fail": {
			"[\"The sum is right\"]", map[string]string{"check.sh": fail}, false, "sh check.sh", nil, "the sum is 5",
		},
		"prose alone, and the change says how it is tested": {
			"[\"The sum is right\"]", map[string]string{config: "test: {command: \"true\"}\n", "check.sh": fail}, false, "sh check.sh", nil, "the sum is 5",
		},
		"a story that is none": {
			"[1]", change, false, "", []string{"the acceptance criteria cannot be read"}, "acceptance criterion",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t, map[string]string{config: byFile, "check.sh": pass})
			job := w.in("story", "developer", "pending", "")
			job.Sections = map[string]json.RawMessage{"story": json.RawMessage(`{"id": "A", "acceptanceCriteria": ` + c.criteria + `}`)}
			r, err := w.do(job, writes(c.change))
			if err != nil || len(r.Evidence) == 0 || r.Head == "" {
				t.Fatalf("it ended with %+v, %v", r, err)
			}
			ev := r.Evidence[len(r.Evidence)-1]
			if ev.Name != "acceptance" || ev.OK != c.ok || ev.Commit != r.Head || ev.Command != c.command || !slices.Equal(ev.Failed, c.failed) || !strings.Contains(ev.Output, c.says) {
				t.Errorf("the evidence is %+v", ev)
			}
			if (r.Status == instance.Success) != c.ok || (r.FailureSignature == "") != c.ok || (len(r.IssuesFound) == 0) != c.ok {
				t.Errorf("it ended with %+v", r)
			}
			for _, f := range c.failed {
				if !strings.Contains(r.Summary, f) {
					t.Errorf("the summary is %q", r.Summary)
				}
			}
		})
	}
}

func TestNoBrainIsAskedWhereOnlyARunIs(t *testing.T) {
	for script, ok := range map[string]bool{pass: true, fail: false} {
		w := newEnv(t, map[string]string{config: byFile, "check.sh": script})
		job := w.in("story", "developer", "pushed", "Pull request #2 needs work.")
		job.Question.RunOnly = true
		r, err := w.do(job, thinks(func(context.Context, brain.Assignment) (brain.Outcome, error) {
			t.Error("the brain was asked")
			return brain.Outcome{}, nil
		}))
		if err != nil || r.Head != "" || len(r.Evidence) == 0 || (r.Status == instance.Success) != ok {
			t.Fatalf("it ended with %+v, %v", r, err)
		}
		if ev := r.Evidence[len(r.Evidence)-1]; ev.Name != "acceptance" || ev.OK != ok || ev.Commit != w.base {
			t.Errorf("the evidence is %+v", ev)
		}
	}
}

func TestEachCriterionsEndIsTold(t *testing.T) {
	w := newEnv(t, map[string]string{})
	job := w.in("story", "developer", "pending", "")
	job.Vars = map[string]string{"story": `{"id": "A", "acceptanceCriteria": [{"command": "exit 3"}, {"command": "true"}, {"command": "no-such-program"}]}`}
	r, err := w.do(job, writes(map[string]string{"a.sh": "x\n"}))
	if err != nil {
		t.Fatal(err)
	}
	ev := r.Evidence[0]
	if ev.ExitCode != 3 || ev.Passed != 1 || ev.Data["exit 3"] != "exit code 3" || ev.Data["true"] != "passed" || !strings.Contains(ev.Data["no-such-program"], "exit code 127: could not run") {
		t.Errorf("the evidence is %+v", ev)
	}
}

func TestWhatFailsOrAsksIsNotHeldAgainstTheCriteria(t *testing.T) {
	w := newEnv(t, map[string]string{config: byFile, "check.sh": fail})
	job := w.in("story", "developer", "pending", "")
	if r, err := w.do(job, saying(instance.Failure)); err != nil || r.Evidence != nil || r.Status != instance.Failure {
		t.Errorf("it ended with %+v, %v", r, err)
	}
	r, _ := w.do(job, answers(map[string]string{"a.sh": "x\n"}, func(out *brain.Outcome) {
		out.Asks = []instance.Inquiry{{To: "shepherd", Question: "Which?"}}
	}))
	if r.Evidence != nil || r.Head == "" {
		t.Errorf("it ended with %+v", r)
	}
}

func TestThatThereAreNoTestsToAcceptByIsSaidEachTime(t *testing.T) {
	w := newEnv(t, map[string]string{"README.md": "Sums.\n"})
	job := w.in("story", "developer", "pending", "")
	job.Sections = map[string]json.RawMessage{"story": json.RawMessage(`{"id": "A", "acceptanceCriteria": ["The sum is right"]}`)}
	r, err := w.do(job, writes(map[string]string{"sum.sh": "two\n"}))
	if err != nil || !strings.Contains(r.Summary, "no acceptance criterion is a command") || !strings.Contains(r.Summary, "add a file .signalbox.yaml") {
		t.Fatalf("it ended with %+v, %v", r, err)
	}
	job.Evidence = r.Evidence
	if _, err = w.do(job, writes(nil)); err == nil || !strings.Contains(err.Error(), "left no change; before that, no acceptance criterion is a command") {
		t.Errorf("it ended with %v", err)
	}
}
