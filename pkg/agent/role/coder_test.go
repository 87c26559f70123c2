package role_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/base/secret"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/verdict"
)

func TestAChangeIsHandedOnFromRoleToRole(t *testing.T) {
	w := newEnv(t, map[string]string{})
	first := w.done("tester", "creating_tests", writes(map[string]string{"test.sh": "one\n"}))
	if first.Head == w.base || first.Head == "" || first.Bundle == "" || first.Evidence != nil {
		t.Fatalf("the first step is %+v", first)
	}
	w.node, w.dir = w.newNode() // on another machine
	second := w.done("developer", "implementing", thinks(func(ctx context.Context, a brain.Assignment) (brain.Outcome, error) {
		if b, err := os.ReadFile(filepath.Join(a.Dir, "test.sh")); err != nil || string(b) != "one\n" || a.Shared == "" {
			t.Errorf("it finds %q, %v", b, err)
		}
		return writes(map[string]string{"sum.sh": "two\n"})(ctx, a)
	}), first)
	if got := w.content("test.sh", first, second) + w.content("sum.sh", first, second); got != "onetwo" {
		t.Errorf("the next one sees %q", got)
	}
}

func TestSuccessWithoutAChangeIsAFailureWhereAChangeIsAskedFor(t *testing.T) {
	w := newEnv(t, map[string]string{})
	undeclared := thinks(func(context.Context, brain.Assignment) (brain.Outcome, error) {
		out := says(instance.Success)
		out.Declared = false
		return out, nil
	})
	for _, c := range []struct {
		name, role, state string
		think             brain.Brain
		fails             bool
	}{
		{"declared, in a state that asks for one", "developer", "fixing_issues", saying(instance.Success), true},
		{"not declared, in any state", "analyst", "analyzing_requirements", undeclared, true},
		{"declared, in a state that does not", "analyst", "analyzing_requirements", saying(instance.Success), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := w.work(c.role, c.state, c.think)
			if (err != nil) != c.fails || r.Bundle != "" || errors.Is(err, brain.ErrInfrastructure) {
				t.Errorf("it ended with %+v, %v", r, err)
			}
			if c.fails && !strings.Contains(err.Error(), "no change") {
				t.Errorf("it says %v", err)
			}
		})
	}
}

// A flake can fail each time that it is run again. Who finds nothing to change has not failed:
// the tests run once more on the same commit.
func TestADeveloperWhoFindsNothingToChangeInRedWorkHasNotFailed(t *testing.T) {
	e := newEnv(t, map[string]string{})
	left := e.done("developer", "implementing", writes(map[string]string{"a.sh": "x\n"}))
	red := func(commit string) []instance.Evidence {
		return []instance.Evidence{{Name: "tests", Commit: commit, Command: "go test ./...", Failed: []string{"TestSlow"}, Judgement: &verdict.Judgement{Kind: verdict.Code}}}
	}
	for name, c := range map[string]struct {
		evidence []instance.Evidence
		fails    bool
	}{
		"red on this commit":     {red(left.Head), false},
		"green on this commit":   {[]instance.Evidence{{Name: "tests", OK: true, Commit: left.Head, Judgement: &verdict.Judgement{}}}, true},
		"it could not be tested": {[]instance.Evidence{{Name: "tests", Commit: left.Head}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			job := e.job("developer", "fixing_issues", left)
			job.Evidence, job.Bundles[1].Role = c.evidence, "developer"
			r, err := e.do(job, saying(instance.Success))
			if (err != nil) != c.fails || err == nil && (r.Status != instance.Success || r.Head != "") {
				t.Errorf("it ended with %+v, %v", r, err)
			}
		})
	}
}

func TestPeopleAreAskedWhereADeveloperFindsNothingToChangeTwice(t *testing.T) {
	e := newEnv(t, map[string]string{})
	job := e.job("developer", "implementing")
	_, err := e.do(job, saying(instance.Success))
	if err == nil || !strings.Contains(err.Error(), "left no change") {
		t.Fatalf("at first it ended with %v", err)
	}
	job = e.job("developer", "fixing_issues")
	job.Last = &instance.Result{Status: instance.Failure, Summary: err.Error()}
	var people *agent.ErrEscalate
	if _, err = e.do(job, saying(instance.Success)); !errors.As(err, &people) || !people.RequiresHuman || !strings.Contains(people.Reason, "Its words: what I did") {
		t.Fatalf("then it ended with %v", err)
	}
	job.Escalations = []instance.Escalation{{Reason: people.Reason, RequiresHuman: true, Resolved: true, Resolution: "It is wrong for negative sums."}}
	if _, err = e.do(job, saying(instance.Success)); err == nil || errors.As(err, &people) {
		t.Errorf("after an answer it ended with %v", err)
	}
	job.Escalations = nil
	if _, err = e.do(job, writes(map[string]string{"a.sh": "x\n"})); err != nil {
		t.Errorf("with a change it ended with %v", err)
	}
}

func TestWhatAFailedStepLeftIsNotHandedOn(t *testing.T) {
	for _, status := range []instance.Status{instance.Failure, instance.Blocked} {
		w := newEnv(t, map[string]string{})
		r, err := w.work("developer", "implementing", thinks(func(ctx context.Context, a brain.Assignment) (brain.Outcome, error) {
			_, err := writes(map[string]string{"half.sh": "half\n"})(ctx, a)
			return says(status), err
		}))
		if err != nil || r.Status != status || r.Bundle != "" || r.Head != "" || len(w.objects.names()) != 1 {
			t.Errorf("it ended with %+v, %v; there is %v", r, err, w.objects.names())
		}
	}
}

func TestAChangeThatMayNotLeaveIsAFailureThatSaysWhy(t *testing.T) {
	token := "ghp_" + strings.Repeat("a1B2", 9)
	for name, c := range map[string]struct {
		files map[string]string
		says  []string
	}{
		"a secret": {map[string]string{"config.sh": "TOKEN=" + token + "\n"}, []string{"config.sh:1", "secret"}},
		"a forbidden path": {map[string]string{".github/workflows/ci.yaml": "on: push\n"},
			[]string{".github/workflows/ci.yaml", "forbidden"}},
		"both, and a fine thing": {map[string]string{"a.sh": token, ".gitmodules": "x\n", "fine.sh": "x\n"}, []string{"a.sh:1", ".gitmodules"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t, map[string]string{})
			r, err := w.work("developer", "implementing", writes(c.files))
			if err == nil || errors.Is(err, brain.ErrInfrastructure) || r.Bundle != "" || len(w.objects.names()) != 1 {
				t.Fatalf("it ended with %+v, %v; there is %v", r, err, w.objects.names())
			}
			for _, want := range c.says {
				if !strings.Contains(err.Error(), want) || !strings.Contains(strings.Join(r.IssuesFound, "\n"), want) {
					t.Errorf("it says %v and found %q, want %q in both", err, r.IssuesFound, want)
				}
			}
			if strings.Contains(err.Error()+strings.Join(r.IssuesFound, ""), token) {
				t.Error("the secret is told")
			}
		})
	}
}

func TestABrainsWordIsOnlyAJudgement(t *testing.T) {
	w := newEnv(t, map[string]string{})
	r, err := w.work("analyst", "analyzing_requirements", thinks(func(context.Context, brain.Assignment) (brain.Outcome, error) {
		out := says(instance.Success)
		out.Result.Head, out.Result.Base, out.Result.Bundle = "c0ffee", "ba5e", "git/mine"
		out.Result.Evidence = []instance.Evidence{{Name: "tests", OK: true, Commit: "c0ffee"}}
		out.Result.Artifacts = []instance.Artifact{{Name: "x"}}
		return out, nil
	}))
	if err != nil || r.Head != "" || r.Base != "" || r.Bundle != "" || r.Evidence != nil || r.Artifacts != nil {
		t.Errorf("it ended with %+v, %v", r, err)
	}
}

func TestWhatABrainPrintsIsKept(t *testing.T) {
	w := newEnv(t, map[string]string{})
	crashed := errors.New("it crashed")
	for _, failed := range []error{nil, crashed, brain.ErrInfrastructure} {
		r, err := w.work("analyst", "analyzing_requirements", thinks(func(context.Context, brain.Assignment) (brain.Outcome, error) {
			out := says(instance.Success)
			out.Output = []byte("I thought hard.\n")
			return out, failed
		}))
		if failed == crashed && err == nil && r.Unjudged && strings.Contains(r.Summary, "it crashed") {
			err = crashed
		}
		if !errors.Is(err, failed) || len(r.Artifacts) != 1 {
			t.Fatalf("it ended with %+v, %v", r, err)
		}
		a := r.Artifacts[0]
		if got := string(w.objects.all[a.Object]); got != "I thought hard.\n" || a.Size != int64(len(got)) ||
			a.Name != "analyzing_requirements.log" || !strings.HasSuffix(a.Object, a.SHA256) {
			t.Errorf("kept is %+v: %q", a, got)
		}
	}
}

func TestAFaultOfTheMachineryIsNotTheWorks(t *testing.T) {
	output := thinks(func(context.Context, brain.Assignment) (brain.Outcome, error) {
		out := says(instance.Success)
		out.Output = []byte("x")
		return out, nil
	})
	for name, c := range map[string]struct {
		think brain.Brain
		spoil func(*env)
		says  string
	}{
		"no brain for the state": {nil, func(*env) {}, "--brain developer=exec:COMMAND"},
		"a bundle that is gone": {saying(instance.Success),
			func(w *env) { delete(w.objects.all, w.bundle); w.node, w.dir = w.newNode() }, "not in the store"},
		"a store that takes no bundle": {writes(map[string]string{"a": "b"}), func(w *env) { w.objects.err = errors.New("the disk is full") },
			"the disk is full"},
		"a store that takes no output": {output, func(w *env) { w.objects.err = errors.New("the disk is full") }, "the disk is full"},
		"a brain that was not reached": {thinks(func(context.Context, brain.Assignment) (brain.Outcome, error) {
			return brain.Outcome{}, brain.ErrInfrastructure
		}), func(*env) {}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t, map[string]string{})
			c.spoil(w)
			_, err := w.work("developer", "implementing", c.think)
			if !errors.Is(err, brain.ErrInfrastructure) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("it ended with %v", err)
			}
		})
	}
}

func TestAProgramThatDestroysItsTreeHasFailed(t *testing.T) {
	w := newEnv(t, map[string]string{})
	_, err := w.work("developer", "implementing", thinks(func(_ context.Context, a brain.Assignment) (brain.Outcome, error) {
		return says(instance.Success), os.RemoveAll(a.Dir)
	}))
	if err == nil || errors.Is(err, brain.ErrInfrastructure) {
		t.Errorf("it ended with %v", err)
	}
}

func TestEachStateMayHaveABrainOfItsOwn(t *testing.T) {
	w := newEnv(t, map[string]string{})
	c := w.coder("developer", writes(map[string]string{"a.sh": "any\n"}))
	c.Brains.State = map[string]brain.Brain{"fixing_issues": writes(map[string]string{"a.sh": "fix\n"})}
	for state, want := range map[string]string{"implementing": "any", "refactoring": "any", "fixing_issues": "fix"} {
		r, err := c.Work(t.Context(), w.job("developer", state))
		if err != nil {
			t.Fatal(err)
		}
		if got := w.content("a.sh", r); got != want {
			t.Errorf("in %s it wrote %q, want %q", state, got, want)
		}
	}
}

func TestAnInstanceWithoutCodeIsOnlyThoughtAbout(t *testing.T) {
	w := newEnv(t, map[string]string{})
	for state, want := range map[string]instance.Status{"analyzing_requirements": instance.Success, "implementing": instance.Blocked,
		"running_tests": instance.Blocked} {
		name := map[string]string{"analyzing_requirements": "analyst", "implementing": "developer", "running_tests": "tester"}[state]
		job := w.job(name, state)
		job.Base, job.Head, job.Bundles = "", "", nil
		r, err := w.coder(name, saying(instance.Success)).Work(t.Context(), job)
		if err != nil || r.Status != want || r.Status == instance.Blocked && !strings.Contains(r.Summary, "no code") {
			t.Errorf("in %s it ended with %+v, %v", state, r, err)
		}
	}
}

func TestACommitSaysWhatWasDoneAndForWhom(t *testing.T) {
	w := newEnv(t, map[string]string{})
	for summary, want := range map[string]string{
		"Mend the sum\n\nat length": "Mend the sum",
		"":                          "implementing: The sum is wrong",
		strings.Repeat("long ", 20): "implementing: The sum is wrong",
	} {
		r := w.done("developer", "implementing", thinks(func(ctx context.Context, a brain.Assignment) (brain.Outcome, error) {
			out, err := writes(map[string]string{"a.sh": "x\n"})(ctx, a)
			out.Result.Summary = summary
			return out, err
		}))
		job := w.job("developer", "implementing", r)
		entries, stat, err := w.node.Log(t.Context(), specOf(job))
		if err != nil || len(entries) != 1 || entries[0].Subject != want || !strings.Contains(stat, "a.sh") {
			t.Errorf("for %q the log is %+v %s, %v", summary, entries, stat, err)
		}
	}
}

func TestAnArtifactHasNoCredential(t *testing.T) {
	e := newEnv(t, map[string]string{})
	token := "gh" + "p_" + strings.Repeat("a1B2", 9) // put together, so that no scanner takes this file for a leak
	secrets, err := secret.New()
	if err != nil {
		t.Fatal(err)
	}
	coder := e.coder("analyst", thinks(func(context.Context, brain.Assignment) (brain.Outcome, error) {
		return brain.Outcome{Declared: true, Output: []byte("logged in with " + token + "\n"),
			Result: instance.Result{Status: instance.Success}}, nil
	}))
	coder.Secrets = secrets
	r, err := coder.Work(t.Context(), e.job("analyst", "analyzing_requirements"))
	if err != nil || len(r.Artifacts) != 1 {
		t.Fatal(r, err)
	}
	text := e.objects.all[r.Artifacts[0].Object]
	sum := fmt.Sprintf("%x", sha256.Sum256(text))
	if want := "logged in with [redacted: github-token]\n"; string(text) != want || len(e.objects.all[r.Artifacts[0].Object]) == 0 ||
		r.Artifacts[0].SHA256 != sum || r.Artifacts[0].Size != int64(len(want)) {
		t.Errorf("stored is %q as %+v", text, r.Artifacts[0])
	}
}

func TestWhatAProgramLeavesForItselfIsNotedAndNotCommitted(t *testing.T) {
	e := newEnv(t, map[string]string{})
	var notes []string
	job := e.job("developer", "implementing")
	job.Note = func(_ context.Context, kind, text string) error {
		notes = append(notes, kind+": "+text)
		return nil
	}
	r, err := e.do(job, writes(map[string]string{"fix": "x", ".claude/settings.local.json": "{}", "web/node_modules/a/b.js": "x"}))
	if err != nil || e.content("fix", r) != "x" || e.content(".claude/settings.local.json", r) != "" || e.content("web/node_modules/a/b.js", r) != "" {
		t.Errorf("it ended with %+v, %v", r, err)
	}
	if len(notes) != 1 || !strings.Contains(notes[0], ".claude/, web/node_modules/") {
		t.Errorf("noted %q", notes)
	}
}
