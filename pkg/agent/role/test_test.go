package role_test

import (
	"context"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

func specOf(job agent.Job) workspace.Spec {
	s := workspace.Spec{Repo: job.Issue.Repo, Base: job.Base, Head: job.Head}
	for _, b := range job.Bundles {
		s.Bundles = append(s.Bundles, b.Object)
	}
	return s
}

const (
	config = ".signalbox.yaml"
	byFile = "test: {command: \"sh check.sh\"}\n"
	pass   = "echo fine\n"
	fail   = "echo FAIL: the sum is 5; exit 1\n"
)

func TestTheRuntimeItselfRunsTheTestsOnTheVeryCommit(t *testing.T) {
	w := newEnv(t, map[string]string{config: byFile, "check.sh": fail})
	before := w.tested("tester", "running_tests", saying(instance.Blocked))
	if ev := before.Evidence[0]; ev.OK || ev.Commit != w.base || ev.Name != "tests" || !strings.Contains(ev.Output, "the sum is 5") {
		t.Errorf("on the base the evidence is %+v", ev)
	}
	fixed := w.done("developer", "implementing", writes(map[string]string{"check.sh": pass}))
	after := w.done("tester", "running_tests", thinks(func(_ context.Context, a brain.Assignment) (brain.Outcome, error) {
		if len(a.Evidence) != 1 || !a.Evidence[0].OK || a.Evidence[0].Commit != a.Head {
			t.Errorf("the brain is told %+v on %s", a.Evidence, a.Head)
		}
		return says(instance.Success), nil
	}), fixed)
	if ev := after.Evidence[0]; !ev.OK || ev.Commit != fixed.Head || ev.Command != "sh check.sh" || after.FailureSignature != "" {
		t.Errorf("on the fix the evidence is %+v, the signature %q", ev, after.FailureSignature)
	}
}

// tested is work that ended without an error, however.
func (e *env) tested(name, state string, think brain.Brain, steps ...instance.Result) instance.Result {
	e.Helper()
	r, err := e.work(name, state, think, steps...)
	if err != nil || len(r.Evidence) != 1 {
		e.Fatalf("%s in %s ended with %+v, %v", name, state, r, err)
	}
	return r
}

func TestTestsThatPassedOnThisCommitAreNotRunAgain(t *testing.T) {
	const check = "test \"$(cat sum)\" = 5 || { echo 'FAILED: sum'; exit 1; }\n"
	e := newEnv(t, map[string]string{config: byFile, "check.sh": check, "sum": "6"})
	fixed := e.left("developer", map[string]string{"sum": "5"})
	first := e.judge([]string{"tester"}, "", fixed)
	if !first.OK || first.Judgement == nil {
		t.Fatalf("the fix has %+v", first)
	}
	for name, c := range map[string]struct {
		change func(*instance.Evidence)
		again  bool
	}{
		"by a tester":                     {func(*instance.Evidence) {}, false},
		"by the developer":                {func(ev *instance.Evidence) { ev.Role = "developer" }, true},
		"by an unknown role":              {func(ev *instance.Evidence) { ev.Role = "" }, true},
		"that fail":                       {func(ev *instance.Evidence) { ev.OK = false }, true},
		"of another commit":               {func(ev *instance.Evidence) { ev.Commit = e.base }, true},
		"by another command":              {func(ev *instance.Evidence) { ev.Command = "true" }, true},
		"that nobody compared":            {func(ev *instance.Evidence) { ev.Judgement = nil }, true},
		"compared with another base":      {func(ev *instance.Evidence) { ev.Judgement.Base = fixed.Head }, true},
		"compared for another change":     {func(ev *instance.Evidence) { ev.Judgement.Change = e.base }, true},
		"that leave a question to people": {func(ev *instance.Evidence) { ev.Judgement.Question = "is it?" }, true},
	} {
		t.Run(name, func(t *testing.T) {
			e.T = t
			job := e.testing([]string{"tester"}, fixed)
			ev, j := first, *first.Judgement
			ev.Role, ev.Judgement = "tester", &j
			c.change(&ev)
			job.State, job.Evidence = "validating_solution", []instance.Evidence{ev}
			progress := e.progressOf(func() {
				r, err := e.do(job, saying(instance.Success))
				if err != nil || len(r.Evidence) != 1 || !r.Evidence[0].OK || r.Evidence[0].Commit != fixed.Head {
					t.Errorf("it ended with %+v, %v", r, err)
				}
			})
			if again := strings.Contains(progress, "running sh check.sh"); again != c.again {
				t.Errorf("it reports\n%s", progress)
			}
		})
	}
}

func TestABrainMayDoubtAPassButNeverAFailure(t *testing.T) {
	for name, c := range map[string]struct {
		script    string
		says, end instance.Status
	}{
		"a pass is a success":                {pass, instance.Success, instance.Success},
		"a pass may be doubted":              {pass, instance.Failure, instance.Failure},
		"a failure is no success":            {fail, instance.Success, instance.Failure},
		"a failure stays one":                {fail, instance.Failure, instance.Failure},
		"a failure may be out of one's hand": {fail, instance.Blocked, instance.Blocked},
	} {
		for _, state := range []string{"running_tests", "validating_solution"} {
			t.Run(name+" in "+state, func(t *testing.T) {
				w := newEnv(t, map[string]string{config: byFile, "check.sh": c.script})
				r := w.tested("tester", state, saying(c.says))
				if r.Status != c.end || r.Evidence[0].OK != (c.script == pass) || (r.FailureSignature == "") != (c.script == pass) {
					t.Errorf("it ended with %+v", r)
				}
			})
		}
	}
}

func TestWhatABrainChangesWhereTestsAreRunIsDropped(t *testing.T) {
	w := newEnv(t, map[string]string{config: byFile, "check.sh": fail})
	r := w.tested("tester", "running_tests", writes(map[string]string{"check.sh": pass}))
	if r.Bundle != "" || r.Head != "" || r.Status != instance.Failure || len(w.objects.names()) != 1 {
		t.Errorf("it ended with %+v; there is %v", r, w.objects.names())
	}
}

func TestAChangeDoesNotSayHowItIsTested(t *testing.T) {
	// The change breaks the product, and with another command that would not be seen.
	const check = "grep -qx good product || { echo FAIL: the product is bad; exit 1; }\n"
	cheat := map[string]string{config: "test: {command: \"true\"}\n", "product": "bad\n"}
	for name, c := range map[string]struct {
		base, change map[string]string
		command      string
		ok           bool
	}{
		"not by another command": {map[string]string{config: byFile, "check.sh": check, "product": "good\n"}, cheat, "sh check.sh", false},
		"not by taking the command away": {map[string]string{config: byFile, "check.sh": check, "product": "good\n"},
			map[string]string{config: "", "Makefile": "test:\n\ttrue\n", "product": "bad\n"}, "sh check.sh", false},
		"not by a command beside other ways": {map[string]string{"Makefile": "test:\n\tsh check.sh\n", "check.sh": check, "product": "good\n"}, cheat, "make test", false},
		"but where there was no way":         {map[string]string{"check.sh": pass}, map[string]string{config: byFile}, "sh check.sh", true},
		"or one that could not be read":      {map[string]string{config: "test: [", "check.sh": pass}, map[string]string{config: byFile}, "sh check.sh", true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t, c.base)
			step := w.done("developer", "implementing", writes(c.change))
			ev := w.tested("tester", "running_tests", saying(instance.Success), step).Evidence[0]
			if ev.Command != c.command || ev.OK != c.ok || ev.Commit != step.Head {
				t.Errorf("the evidence is %+v, want it by %q and OK to be %v", ev, c.command, c.ok)
			}
		})
	}
}

func TestThatThereIsNoWayToTestIsEvidenceToo(t *testing.T) {
	w := newEnv(t, map[string]string{})
	r := w.tested("tester", "running_tests", saying(instance.Success))
	if ev := r.Evidence[0]; ev.OK || ev.ExitCode != -1 || ev.Commit != w.base || !strings.Contains(ev.Output, config) || r.Status != instance.Failure {
		t.Errorf("it ended with %+v", r)
	}
}
