package testrun_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/agent/testrun"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

func TestChecksBesideTheTestsAreFoundWhereThereAreSome(t *testing.T) {
	scripts := `{"scripts": {"lint": "eslint .", "typecheck": "tsc --noEmit"}}`
	for name, c := range map[string]struct {
		tree        fstest.MapFS
		lint, types string // commands; empty: none
	}{
		"nothing":                      {fstest.MapFS{}, "", ""},
		"a configuration":              {tree(".signalbox.yaml", "lint: {command: a}\ntype_check: {command: b}\n", "package.json", scripts), "a", "b"},
		"a configuration of one":       {tree(".signalbox.yaml", "lint: {command: a}\n", "package.json", scripts), "a", "npm run typecheck"},
		"scripts":                      {tree("package.json", scripts, "yarn.lock", ""), "yarn run lint", "yarn run typecheck"},
		"targets":                      {tree("Makefile", "lint:\n\tx\ntype-check:\n\ty\n", "go.mod", "module x"), "make lint", "make type-check"},
		"Go":                           {tree("go.mod", "module x"), "go vet ./...", "go build ./..."},
		"Cargo":                        {tree("Cargo.toml", "[package]"), "", "cargo check --all-targets"},
		"a package without such tests": {tree("package.json", `{"scripts": {"test": "jest"}}`), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			for check, want := range map[string]string{testrun.Lint: c.lint, testrun.TypeCheck: c.types} {
				plan, found, err := testrun.DetectCheck(c.tree, check)
				if err != nil || found != (want != "") || found && (plan.Command() != want || plan.Check != check || plan.Timeout != testrun.DefaultTimeout) {
					t.Errorf("%s is %+v, %v, %v; want %q", check, plan, found, err, want)
				}
			}
		})
	}
	if _, _, err := testrun.DetectCheck(tree(".signalbox.yaml", "lint: {}\n"), testrun.Lint); err == nil || !strings.Contains(err.Error(), "lint has no command") {
		t.Errorf("a configuration without a command is answered %v", err)
	}
}

func TestACheckIsEvidenceByItsName(t *testing.T) {
	dir := write(t, "go.mod", goMod, "money.go", strings.Replace(money, "return", "return x", 1))
	plan, found, err := testrun.DetectCheck(os.DirFS(dir), testrun.TypeCheck)
	if err != nil || !found {
		t.Fatal(found, err)
	}
	ev, _, err := testrun.Run(t.Context(), dir, "c0ffee", plan, sandbox.Sandbox{})
	if err != nil || ev.OK || ev.Name != "type_check" || !strings.Contains(ev.Output, "money.go") {
		t.Errorf("got %+v, %v", ev, err)
	}
}

func TestEvidenceTogetherIsOKWhenAllOfItIs(t *testing.T) {
	good := instance.Evidence{Name: "tests", Command: "make test", OK: true, Passed: 3, Millis: 5}
	bad := instance.Evidence{Name: "lint", Command: "make lint", ExitCode: 2, Output: "unused x\nmore", Millis: 7}
	none := instance.Evidence{Name: "tests", ExitCode: -1, Output: "no tests found"}
	for name, c := range map[string]struct {
		all    []instance.Evidence
		ok     bool
		exit   int
		failed []string
		data   map[string]string
	}{
		"nothing":              {nil, false, -1, nil, nil},
		"what passes":          {[]instance.Evidence{good}, true, 0, nil, map[string]string{"make test": "passed, 3 tests"}},
		"one that fails":       {[]instance.Evidence{good, bad}, false, 2, []string{"make lint"}, map[string]string{"make lint": "exit code 2: unused x"}},
		"one that did not run": {[]instance.Evidence{none, bad}, false, -1, []string{"tests", "make lint"}, map[string]string{"tests": "exit code -1: no tests found"}},
	} {
		t.Run(name, func(t *testing.T) {
			ev := testrun.Together("build", "c0ffee", c.all)
			if ev.Name != "build" || ev.Commit != "c0ffee" || ev.OK != c.ok || ev.ExitCode != c.exit || !slices.Equal(ev.Failed, c.failed) || (ev.Output == "") != c.ok {
				t.Errorf("got %+v", ev)
			}
			for command, want := range c.data {
				if ev.Data[command] != want {
					t.Errorf("%s ended as %q, want %q", command, ev.Data[command], want)
				}
			}
		})
	}
}
