package role_test

import (
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/instance"
)

func TestADemonstrationRunsOnTheBaseAndOnTheChangeAndDecidesNothing(t *testing.T) {
	const check = "test \"$(cat sum)\" = 5 || { echo 'FAILED: sum'; exit 1; }\n"
	for name, c := range map[string]struct{ demo, base, change string }{
		"it fails on the base":   {"demo: {command: \"cat sum; test $(cat sum) = 5\"}\n", "exit code 1: 6", "exit code 0: 5"},
		"it fails on the change": {"demo: {command: \"cat sum; test $(cat sum) = 6\"}\n", "exit code 0: 6", "exit code 1: 5"},
		"it is no program":       {"demo: {command: no-such-program}\n", "exit code 127: ", "exit code 127: "},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t, map[string]string{config: byFile + c.demo, "check.sh": check, "sum": "6"})
			// The change also changes the demonstration, which counts as the base has it.
			fixed := e.done("developer", "implementing", writes(map[string]string{"sum": "5", config: byFile + "demo: {command: echo mine}\n"}))
			r := e.done("tester", "running_tests", saying(instance.Success), fixed)
			d := r.Evidence[0].Demo
			if !r.Evidence[0].OK || d == nil || d.Base.Commit != e.base || d.Change.Commit != fixed.Head {
				t.Fatalf("the evidence is %+v", r.Evidence)
			}
			for _, run := range []struct {
				instance.DemoRun
				want string
			}{{d.Base, c.base}, {d.Change, c.change}} {
				if got := run.Ended + ": " + run.Output; !strings.HasPrefix(got, run.want) {
					t.Errorf("got %s, want %s", got, run.want)
				}
				if stored := e.objects.all[run.Whole.Object]; strings.TrimSpace(string(stored)) != run.Output || run.Whole.Object != "artifact/"+run.Whole.SHA256 {
					t.Errorf("%+v is stored as %q", run.Whole, stored)
				}
			}
			if len(r.Artifacts) != 2 || r.Artifacts[0].Name != "running_tests.demo-base.txt" || r.Artifacts[1].Name != "running_tests.demo-change.txt" {
				t.Errorf("the artifacts are %+v", r.Artifacts)
			}
			job := e.job("tester", "running_tests", fixed)
			job.Evidence, job.Writers = r.Evidence, []string{"developer"}
			job.Evidence[0].Role = "tester"
			again, err := e.do(job, saying(instance.Success))
			if err != nil || again.Evidence[0].Demo != d || len(again.Artifacts) != 0 {
				t.Errorf("tests that are not run again have %+v, %v", again, err)
			}
		})
	}
}

func TestWorkThatFailsItsTestsIsNotDemonstrated(t *testing.T) {
	e := newEnv(t, map[string]string{config: byFile + "demo: {command: echo shown}\n", "check.sh": pass})
	broken := e.done("developer", "implementing", writes(map[string]string{"check.sh": fail}))
	if r := e.tested("tester", "running_tests", saying(instance.Failure), broken); r.Evidence[0].OK || r.Evidence[0].Demo != nil {
		t.Errorf("the evidence is %+v", r.Evidence)
	}
}
