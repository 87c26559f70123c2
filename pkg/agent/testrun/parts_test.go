package testrun_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/agent/testrun"
)

// twoLanguages has Go and a script of package.json at the root, the latter with a test that
// fails.
func twoLanguages() []string {
	return []string{"go.mod", goMod, "money.go", rounding, "money_test.go", tests, "Makefile", "test:\n\tfalse\n",
		"package.json", `{"scripts": {"test": "node --test --test-reporter=tap"}}`,
		"money.test.js", "const {test} = require('node:test'); test('adds', () => {}); test('rounds', () => { throw new Error('99 is not 100') });"}
}

func TestTwoLanguagesAtTheRootAreBothRun(t *testing.T) {
	dir := write(t, twoLanguages()...)
	plan, err := testrun.Detect(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	if got := plan.Command(); got != "go test -json ./... && npm test" {
		t.Errorf("the command is %s", got)
	}
	ev, run, err := testrun.Run(t.Context(), dir, "c0ffee", plan, sandbox.Sandbox{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, test := range run.Tests {
		names = append(names, string(test.Outcome)+" "+test.Name)
	}
	want := []string{"pass go: example.com/money.TestRounds", "pass go: example.com/money.TestWhole", "pass node: adds", "fail node: rounds"}
	if !slices.Equal(names, want) || ev.OK || run.OK || !run.Named || !slices.Equal(ev.Failed, []string{"node: rounds"}) || ev.Passed != 3 {
		t.Errorf("got %q, %+v", names, ev)
	}
	only, ok := plan.Only([]string{"go: example.com/money.TestWhole"})
	if !ok || only.Command() != "go test -json -count=1 -run ^(TestWhole)$ example.com/money" {
		t.Errorf("one test is selected by %q, %v", only.Command(), ok)
	}
	_, run, err = testrun.Run(t.Context(), dir, "c0ffee", only, sandbox.Sandbox{})
	if err != nil || len(run.Tests) != 1 || run.Tests[0].Name != "go: example.com/money.TestWhole" {
		t.Errorf("selected, it runs %+v, %v", run.Tests, err)
	}
}

func TestAPartThatCannotRunIsLeftOutWhereAnotherTestsSomething(t *testing.T) {
	dir := write(t, "go.mod", goMod, "money.go", rounding, "money_test.go", tests, "package.json", `{"scripts": {"test": "no-such-runner"}}`)
	ev := run(t, dir)
	if !ev.OK || ev.Passed != 2 || !strings.Contains(ev.Data["not_run"], "no-such-runner") {
		t.Errorf("got %+v", ev)
	}
	if got := testrun.Obstacle(ev); got != "" {
		t.Errorf("it is an obstacle: %s", got)
	}
}

func TestAMonorepoIsTestedWhereTheChangeTouchesIt(t *testing.T) {
	files := tree("backend/go.mod", goMod, "web/package.json", `{"scripts": {"test": "node --test"}}`, "libs/a/pytest.ini", "", "libs/a/tests/test_a.py", "",
		"web/node_modules/x/package.json", `{"scripts": {"test": "x"}}`, "examples/b/go.mod", goMod, "README", "")
	plan, err := testrun.Detect(files)
	if err != nil {
		t.Fatal(err)
	}
	for changed, want := range map[string]string{
		"":                    "(cd backend; go test -json ./...) && (cd libs/a; python3 -m pytest -v -rfEp -p no:cacheprovider) && (cd web; npm test)",
		"README":              "(cd backend; go test -json ./...) && (cd libs/a; python3 -m pytest -v -rfEp -p no:cacheprovider) && (cd web; npm test)",
		"backend/a/b.go":      "(cd backend; go test -json ./...)",
		"web/x.js libs/a/a.p": "(cd libs/a; python3 -m pytest -v -rfEp -p no:cacheprovider) && (cd web; npm test)",
	} {
		if got := plan.Touching(strings.Fields(changed)).Command(); got != want {
			t.Errorf("of a change to %q: %s, want %s", changed, got, want)
		}
	}
	dir := write(t, "backend/go.mod", goMod, "backend/money.go", money, "backend/money_test.go", tests, "web/package.json", `{"scripts": {"test": "node --test"}}`)
	plan, err = testrun.Detect(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	ev, _, err := testrun.Run(t.Context(), dir, "c0ffee", plan.Touching([]string{"backend/money.go"}), sandbox.Sandbox{})
	if err != nil || !slices.Equal(ev.Failed, []string{"backend: example.com/money.TestRounds"}) {
		t.Errorf("got %+v, %v", ev, err)
	}
}

func TestATreeWithoutTestsIsAskedAboutByName(t *testing.T) {
	_, err := testrun.Detect(tree("src/x.c", ""))
	if err == nil || !strings.Contains(err.Error(), "and in the directories below") ||
		!strings.Contains(err.Error(), "test: {command:") {
		t.Errorf("got %v", err)
	}
}

func TestAPythonProjectWithItsPackagesInSrcNeedsNoSetting(t *testing.T) {
	ev := run(t, write(t, "src/greet/__init__.py", "def hello(): return 'hello'\n",
		"tests/test_greet.py", "import unittest, greet\n\n\nclass T(unittest.TestCase):\n    def test_hello(self): self.assertEqual(greet.hello(), 'hello')\n"))
	if !ev.OK || ev.Passed != 1 {
		t.Errorf("got %+v", ev)
	}
}
