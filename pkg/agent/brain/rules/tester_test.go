package rules_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

func TestTesterJudgesEvidence(t *testing.T) {
	var many []string
	for i := range 7 {
		many = append(many, fmt.Sprintf("x.Test%d", i))
	}
	for name, c := range map[string]struct {
		ev      instance.Evidence
		status  instance.Status
		summary string
		issues  []string
	}{
		"all pass":         {instance.Evidence{OK: true, Passed: 41}, instance.Success, "41 tests pass.", nil},
		"passes uncounted": {instance.Evidence{OK: true, Command: "make test"}, instance.Success, "`make test` passes.", nil},
		"some fail": {
			instance.Evidence{Passed: 38, ExitCode: 1, Failed: []string{"x.TestA", "x.TestB", "y (build failed)"}, Output: "--- FAIL: x.TestA\nbad"},
			instance.Failure, "3 of 41 tests fail: x.TestA, x.TestB, y (build failed)", []string{"x.TestA", "x.TestB", "y (build failed)"},
		},
		"many fail": {
			instance.Evidence{ExitCode: 1, Failed: many},
			instance.Failure, "7 of 7 tests fail: x.Test0, x.Test1, x.Test2, x.Test3, x.Test4 and 2 more", many,
		},
		"fails uncounted": {
			instance.Evidence{ExitCode: 2, Command: "make test", Output: "cc: no input\nmake: error"},
			instance.Failure, "make test fails with exit code 2: cc: no input", []string{"make test fails with exit code 2"},
		},
		"nothing tested": {
			instance.Evidence{Command: "go test ./...", Output: "nothing was tested: no test ran\n?   x [no test files]"},
			instance.Failure, "go test ./... fails with exit code 0: nothing was tested: no test ran", []string{"go test ./... fails with exit code 0"},
		},
		"no way to test": {
			instance.Evidence{ExitCode: -1, Output: "no tests found: looked at the root"},
			instance.Failure, "no tests found: looked at the root.", []string{"no tests found: looked at the root"},
		},
		"a missing program": {
			instance.Evidence{ExitCode: -1, Command: "cargo test", Output: "could not run: cargo is not installed here"},
			instance.Blocked, "Tests could not run: cargo is not installed here.", []string{"could not run: cargo is not installed here"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c.ev.Name, c.ev.Commit = "tests", "c0ffee"
			for _, state := range []string{"running_tests", "validating_solution"} {
				out, err := rules.Tester{}.Work(t.Context(), brain.Assignment{State: state, Work: workOf(t, "tester", state), Head: "c0ffee", Evidence: []instance.Evidence{c.ev}})
				r := out.Result
				if err != nil || !out.Declared || r.Status != c.status || r.Summary != c.summary {
					t.Errorf("%s: %s %q, declared %t, error %v", state, r.Status, r.Summary, out.Declared, err)
				}
				if diff := cmp.Diff(c.issues, r.IssuesFound); diff != "" {
					t.Errorf("issues (-want +got):\n%s", diff)
				}
				if passed := c.status == instance.Success; (r.ConfidenceScore >= threshold) != passed || (r.FailureSignature == "") != passed {
					t.Errorf("confidence %v, signature %q", r.ConfidenceScore, r.FailureSignature)
				}
			}
		})
	}
}

func TestTesterJudgesNothingWithoutEvidenceOnTheCommit(t *testing.T) {
	for name, evidence := range map[string][]instance.Evidence{
		"none":              nil,
		"another check":     {{Name: "lint", OK: true, Commit: "c0ffee"}},
		"on another commit": {{Name: "tests", OK: true, Commit: "decaf"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := rules.Tester{}.Work(t.Context(), brain.Assignment{State: "running_tests", Work: workOf(t, "tester", "running_tests"), Head: "c0ffee", Evidence: evidence})
			if !errors.Is(err, rules.ErrNoEvidence) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestTesterReliesOnTheTestsThereAre(t *testing.T) {
	for name, c := range map[string]struct {
		file, content string
		a             brain.Assignment
		status        instance.Status
		says          string
	}{
		"that are known":           {"go.mod", "module x", brain.Assignment{Evidence: []instance.Evidence{{Name: "tests", Passed: 40, Failed: []string{"x"}}}}, instance.Success, "relies on the existing 41 tests that `go test -json ./...` runs."},
		"that never ran":           {"Makefile", "test:\n", brain.Assignment{}, instance.Success, "relies on the existing tests that `make test` runs."},
		"which are none":           {"README.md", "", brain.Assignment{}, instance.Blocked, "no tests found"},
		"which need not be":        {"README.md", "", brain.Assignment{Policy: map[string]any{"require_tests": "false"}}, instance.Success, "the policy does not ask for them"},
		"with a bad configuration": {".signalbox.yaml", "tset: x", brain.Assignment{}, instance.Blocked, ".signalbox.yaml:1"},
	} {
		t.Run(name, func(t *testing.T) {
			c.a.Dir, c.a.State, c.a.Work = t.TempDir(), "creating_tests", workOf(t, "tester", "creating_tests")
			if err := os.WriteFile(filepath.Join(c.a.Dir, c.file), []byte(c.content), 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := rules.Tester{}.Work(t.Context(), c.a)
			if r := out.Result; err != nil || !out.Declared || r.Status != c.status || !strings.Contains(r.Summary, c.says) || r.ConfidenceScore >= threshold {
				t.Errorf("got %+v, error %v", out, err)
			}
		})
	}
}
