package rules_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

func TestCheckerWantsEveryCheckOfTheCommitToPass(t *testing.T) {
	tests := instance.Evidence{Name: "tests", OK: true, Commit: "c0ffee", Passed: 41}
	lint := instance.Evidence{Name: "lint", Commit: "c0ffee", Command: "npm run lint", ExitCode: 1, Output: "unused x"}
	old := instance.Evidence{Name: "acceptance", Commit: "ba5e"}
	for name, c := range map[string]struct {
		evidence []instance.Evidence
		status   instance.Status
		says     string
	}{
		"one passes":           {[]instance.Evidence{tests}, instance.Success, "41 tests pass."},
		"of another commit":    {[]instance.Evidence{old, tests}, instance.Success, "41 tests pass."},
		"several pass":         {[]instance.Evidence{tests, tests}, instance.Success, "41 tests pass. All 2 checks pass."},
		"one of several fails": {[]instance.Evidence{tests, lint}, instance.Failure, "npm run lint fails with exit code 1: unused x"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := rules.Checker{}.Work(t.Context(), brain.Assignment{Head: "c0ffee", Evidence: c.evidence})
			if err != nil || !out.Declared || out.Result.Status != c.status || out.Result.Summary != c.says {
				t.Errorf("it says %+v, %v", out.Result, err)
			}
		})
	}
	for name, evidence := range map[string][]instance.Evidence{"none": nil, "of another commit only": {old}} {
		if _, err := (rules.Checker{}).Work(t.Context(), brain.Assignment{Head: "c0ffee", Evidence: evidence}); !errors.Is(err, rules.ErrNoEvidence) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRulesSayThatTheyAnswerNoQuestions(t *testing.T) {
	asked := brain.Assignment{Role: "analyst", State: "writer", Question: &instance.Question{Number: 1, From: "writer", To: "analyst", Text: "Where is it?"}}
	for name, b := range map[string]brain.Brain{"analyst": rules.Analyst{}, "tester": rules.Tester{}, "navigator": rules.Navigator{}, "checker": rules.Checker{}} {
		out, err := b.Work(t.Context(), asked)
		if err != nil || !out.Declared || out.Result.Status != instance.Blocked || !strings.Contains(out.Result.Summary, "analyst works by rules") || len(out.Result.Questions) != 0 {
			t.Errorf("%s says %+v, %v", name, out.Result, err)
		}
	}
}
