package role_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/agent/role"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/work"
)

// first is the first work of a role in a lifecycle that runs tests.
func (e *env) first(name, state string) agent.Job {
	job := e.job(name, state)
	job.Writers, job.Checks = []string{"developer"}, []string{work.Tests}
	return job
}

func TestTestsThatCannotRunStopTheWorkBeforeABrainIsAsked(t *testing.T) {
	for name, c := range map[string]struct{ file, content, says string }{
		"a program is missing":       {config, "test: {command: \"no-such-program --all\"}\n", "asks for the program no-such-program, which is not installed here"},
		"a dependency is missing":    {config, "test: {command: \"echo npm ERR! code ENOTFOUND; exit 1\"}\n", "a dependency is missing: npm ERR! code ENOTFOUND. Fetch it"},
		"they take too long":         {config, "test: {command: \"sleep 60\", timeout: 100ms}\n", "stopped after 100ms (wall time limit). Set another limit in .signalbox.yaml"},
		"it is not said how they do": {config, "test: {comand: x}\n", ".signalbox.yaml:1"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t, map[string]string{c.file: c.content})
			unasked := thinks(func(context.Context, brain.Assignment) (brain.Outcome, error) {
				t.Error("the brain was asked")
				return brain.Outcome{}, nil
			})
			_, err := e.do(e.first("developer", "implementing"), unasked)
			var people *agent.ErrEscalate
			if !errors.As(err, &people) || !people.RequiresHuman || !strings.HasPrefix(people.Reason, "the tests cannot be run on the code as it is") ||
				!strings.Contains(people.Reason, c.says) {
				t.Fatalf("it ended with %v", err)
			}

			said := e.first("developer", "implementing")
			said.Escalations = []instance.Escalation{{Reason: people.Reason, RequiresHuman: true, Resolved: true, Resolution: "go on"}}
			var warned []string
			_, err = e.do(said, thinks(func(ctx context.Context, a brain.Assignment) (brain.Outcome, error) {
				warned = a.Warnings
				return writes(map[string]string{"a": "b"})(ctx, a)
			}))
			if err != nil || len(warned) != 1 || !strings.Contains(warned[0], c.says) {
				t.Errorf("after people said so it ended with %v; the brain was warned of %q", err, warned)
			}
		})
	}
}

func TestABaseOnWhichNoTestRunsStopsTheWorkUnlessTestsAreToBeWritten(t *testing.T) {
	files := map[string]string{"go.mod": "module example.com/m\n\ngo 1.24\n", "m.go": "package m\n",
		"m_test.go": "//go:build integration\n\npackage m\n\nimport \"testing\"\n\nfunc TestM(*testing.T) {}\n"}
	const says = "go test ran no tests: m_test.go needs the build tag integration"
	for name, c := range map[string]struct {
		change func(*agent.Job)
		stops  bool
	}{
		"a developer":                     {func(*agent.Job) {}, true},
		"a tester who writes tests":       {func(j *agent.Job) { j.Role, j.State = "tester", "creating_tests" }, false},
		"a policy that asks for no tests": {func(j *agent.Job) { j.Policy = map[string]any{"require_tests": false} }, false},
		"people who say to go on after it": {func(j *agent.Job) {
			j.Escalations = []instance.Escalation{{Reason: "the tests cannot be run on the code as it is, before any change: " + says, Resolved: true}}
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t, files)
			job := e.first("developer", "implementing")
			c.change(&job)
			var warned []string
			_, err := e.do(job, thinks(func(ctx context.Context, a brain.Assignment) (brain.Outcome, error) {
				warned = a.Warnings
				return writes(map[string]string{"a": "b"})(ctx, a)
			}))
			var people *agent.ErrEscalate
			switch stopped := errors.As(err, &people); {
			case stopped != c.stops:
				t.Errorf("it ended with %v", err)
			case stopped && !strings.Contains(people.Reason, says):
				t.Errorf("people are asked %q", people.Reason)
			case !stopped && !strings.Contains(strings.Join(warned, "\n"), says):
				t.Errorf("the brain was warned of %q", warned)
			}
		})
	}
}

// A red base without names can be compared by its output alone. Where that differs between
// two runs, nothing can be judged, and people are asked before a brain is.
func TestARedBaseThatIsNoMeasureIsAskedAboutBeforeABrainIs(t *testing.T) {
	counts := "n=$(cat ../../counted 2>/dev/null | wc -l); echo run >> ../../counted; "
	for name, c := range map[string]struct {
		script string
		asks   string
	}{
		"the same output each time": {"echo broken; exit 1\n", ""},
		"another output each time":  {"head -c 60 /dev/urandom | od -An -tx1 | tr -dc a-f | tr a-f g-l; exit 1\n", "prints something else each time"},
		"it passes in a second run": {counts + "test $n -ge 2\n", "passes in a second run"},
		"it passes":                 {"echo $$; true\n", ""},
		"it names the test":         {"echo 'TAP version 13'; echo '1..1'; echo 'not ok 1 - greets'; head -c 6 /dev/urandom | od -An -tx1; exit 1\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t, map[string]string{config: "test: {command: \"sh check.sh\"}\n", "check.sh": c.script})
			asked := 0
			b := thinks(func(ctx context.Context, a brain.Assignment) (brain.Outcome, error) {
				asked++
				return writes(map[string]string{"a": "b"})(ctx, a)
			})
			job := e.first("developer", "implementing")
			coder := func() (instance.Result, error) {
				c := e.coder("developer", b)
				c.Baselines = new(role.Baselines)
				return c.Work(t.Context(), job)
			}
			_, err := coder()
			var people *agent.ErrEscalate
			switch {
			case c.asks == "" && (err != nil || asked != 1):
				t.Fatalf("it ended with %v after %d calls of the brain", err, asked)
			case c.asks != "" && (!errors.As(err, &people) || !strings.HasPrefix(people.Reason, "the tests cannot judge any change: sh check.sh fails") ||
				!strings.Contains(people.Reason, c.asks) || asked != 0):
				t.Fatalf("it ended with %v after %d calls of the brain", err, asked)
			case c.asks == "":
				return
			}
			job.Escalations = []instance.Escalation{{Reason: people.Reason, RequiresHuman: true, Resolved: true, Resolution: "go on"}}
			if _, err := coder(); err != nil || asked != 1 {
				t.Errorf("after an answer it ended with %v after %d calls of the brain", err, asked)
			}
		})
	}
}

func TestTheBaseIsTriedBeforeADeveloperIsPaidWhereATesterOfRulesWroteATest(t *testing.T) {
	e := newEnv(t, map[string]string{config: "test: {command: \"no-such-program --all\"}\n"})
	left := e.left("tester", map[string]string{"a_test.sh": "exit 1\n"})
	job := e.job("developer", "implementing", left.Result)
	job.Bundles[1].Role, job.Writers, job.Checks = "tester", []string{"developer"}, []string{work.Tests}
	_, err := e.do(job, thinks(func(context.Context, brain.Assignment) (brain.Outcome, error) {
		t.Error("the brain was asked")
		return brain.Outcome{}, nil
	}))
	var people *agent.ErrEscalate
	if !errors.As(err, &people) || !strings.Contains(people.Reason, "no-such-program") {
		t.Errorf("it ended with %v", err)
	}
}

func TestAChangeRunsWithTheVariablesThatMadeItsBaseGreen(t *testing.T) {
	e := newEnv(t, map[string]string{config: "test: {command: \"test -z \\\"$CI\\\"\"}\n"})
	job := e.first("developer", "implementing")
	r, err := e.do(job, thinks(writes(map[string]string{"a": "b"})))
	if err != nil || r.Status != instance.Success {
		t.Fatalf("it ended with %+v, %v", r, err)
	}
	job = e.job("tester", "running_tests")
	job.Head, job.Bundles, job.Writers = r.Head, []instance.Bundle{{Object: r.Bundle, Head: r.Head, Role: "developer"}}, []string{"developer"}
	r, err = e.do(job, rules.Tester{})
	if err != nil || r.Status != instance.Success {
		t.Errorf("the tests of the change ended with %+v, %v", r, err)
	}
}

func TestTheBrainKnowsHowTheTestsEndBeforeAnyChange(t *testing.T) {
	for _, c := range []struct {
		name, role, state, script string
		ok, reports               bool
	}{
		{"an analyst reports that they pass", "analyst", "analyzing_requirements", pass, true, true},
		{"an analyst reports that they fail", "analyst", "analyzing_requirements", fail, false, true},
		{"who writes the code reports nothing", "developer", "implementing", fail, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newEnv(t, map[string]string{config: byFile, "check.sh": c.script})
			var told brain.Assignment
			r, err := e.do(e.first(c.role, c.state), thinks(func(ctx context.Context, a brain.Assignment) (brain.Outcome, error) {
				told = a
				return writes(map[string]string{"answer": "42"})(ctx, a)
			}))
			if err != nil || r.Status != instance.Success {
				t.Fatalf("it ended with %+v, %v", r, err)
			}
			if len(told.Evidence) != 1 || told.Evidence[0].Name != work.Base || told.Evidence[0].OK != c.ok || told.Evidence[0].Commit != e.base ||
				(len(told.Warnings) == 0) != c.ok {
				t.Errorf("the brain was told %+v, warned of %q", told.Evidence, told.Warnings)
			}
			if reported := slices.ContainsFunc(r.Evidence, func(ev instance.Evidence) bool { return ev.Name == work.Base }); reported != c.reports {
				t.Errorf("the result has %+v", r.Evidence)
			}
		})
	}
}

func TestTheTestsOfTheBaseRunOnceAndOnlyBeforeABrainThatCosts(t *testing.T) {
	e := newEnv(t, map[string]string{config: byFile, "check.sh": pass})
	runs := 0
	try := func(name string, want int, change func(*agent.Job, *role.Coder)) {
		t.Helper()
		job := e.first("analyst", "analyzing_requirements")
		job.Progress = func(format string, args ...any) {
			if strings.HasPrefix(format, "running ") {
				runs++
			}
		}
		c := e.coder("analyst", saying(instance.Success))
		c.Baselines = new(role.Baselines)
		change(&job, &c)
		runs = 0
		for range 2 {
			if _, err := c.Work(t.Context(), job); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if runs != want {
			t.Errorf("%s: the tests ran %d times in two steps, want %d", name, runs, want)
		}
	}
	try("a brain that costs", 1, func(*agent.Job, *role.Coder) {})
	try("rules", 0, func(_ *agent.Job, c *role.Coder) { c.Brains.Default = rules.Analyst{} })
	try("a lifecycle without tests", 0, func(j *agent.Job, _ *role.Coder) { j.Checks = []string{"lint"} })
	try("an earlier step has run them", 0, func(j *agent.Job, _ *role.Coder) {
		j.Evidence = []instance.Evidence{{Name: work.Base, OK: true, Commit: e.base}}
	})
	try("a question", 0, func(j *agent.Job, _ *role.Coder) {
		j.Question = &instance.Question{Number: 1, From: "pm", To: "analyst", Text: "What is it?"}
	})
}

func TestNoTestsAreNoFailureWhereThePolicyAsksForNone(t *testing.T) {
	for policy, want := range map[string]struct {
		evidence int
		status   instance.Status
	}{
		"true":  {1, instance.Failure},
		"false": {0, instance.Success},
	} {
		e := newEnv(t, map[string]string{})
		for _, state := range []string{"running_tests", "validating_solution"} {
			job := e.job("tester", state)
			job.Policy = map[string]any{"require_tests": policy}
			r, err := e.do(job, rules.Tester{})
			if err != nil || r.Status != want.status || len(r.Evidence) != want.evidence {
				t.Errorf("%s with require_tests %s ended with %+v, %v", state, policy, r, err)
			}
		}
	}
}
