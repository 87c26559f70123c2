package testrun_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/agent/testrun"
)

func TestTheConfigurationHasVariablesAndGlobs(t *testing.T) {
	got, err := testrun.ReadSettings([]byte("test: {command: make}\nenv: {TZ: UTC, A: 'b c'}\njudges: [check.py, 'ci/**']\nproduct: ['spec/**']\n"))
	if err != nil || !slices.Equal(got.Env, []string{"A=b c", "TZ=UTC"}) || !slices.Equal(got.Judges, []string{"check.py", "ci/**"}) ||
		!slices.Equal(got.Product, []string{"spec/**"}) {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err := testrun.ReadSettings(nil); err != nil || got.Env != nil {
		t.Errorf("of no file, got %+v, %v", got, err)
	}
	for content, says := range map[string]string{
		"env: {'A B': c}":      `env has the name "A B"`,
		"judges: ['[']":        `judges has the glob "["`,
		"product: ['../x']":    `product has the glob "../x"`,
		"environment: {A: b}":  "known are setup, test, lint, type_check and demo, each with command and timeout, demo with port and page, too, and env, judges and product",
		"judges: {a: b}":       ".signalbox.yaml:1: this does not belong here",
		"env: {A: {b: c}}":     ".signalbox.yaml:1: this does not belong here",
		"product: ['/etc/x*']": `product has the glob "/etc/x*"`,
	} {
		if _, err := testrun.ReadSettings([]byte(content)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: got %v, want %q", content, err, says)
		}
	}
}

func TestAGlobMatchesPathsAndWhatLiesBelow(t *testing.T) {
	for _, c := range []struct {
		glob, name string
		want       bool
	}{
		{"spec/**", "spec/greet.py", true}, {"spec/**", "spec/a/b.py", true}, {"spec/**", "a/spec/b.py", false}, {"spec", "spec/a/b.py", true},
		{"**/spec/*.py", "a/b/spec/c.py", true}, {"**/spec/*.py", "spec/c.py", true}, {"*.py", "a.py", true}, {"*.py", "a/b.py", false},
		{"check.py", "check.py", true}, {"check.py", "check.pyc", false}, {"a/**/z", "a/z", true}, {"a/**/z", "a/b/c/z", true},
	} {
		if got := testrun.Match([]string{"none", c.glob}, c.name); got != c.want {
			t.Errorf("%s matches %s: %v", c.glob, c.name, got)
		}
	}
}

func TestAProgramSeesNoVariableAboutColours(t *testing.T) {
	t.Setenv("NO_COLOR", "")
	t.Setenv("FORCE_COLOR", "")
	command := `env | grep -E '^(NO_COLOR|FORCE_COLOR|CARGO_TERM_COLOR|RUST_BACKTRACE)=' && exit 1; test "$CI" = 1`
	ev := run(t, write(t, ".signalbox.yaml", "test: {command: \""+strings.ReplaceAll(command, `"`, `\"`)+"\"}\n"))
	if !ev.OK {
		t.Errorf("got %+v", ev)
	}
}

func TestTheVariablesOfTheConfigurationReachEveryPlan(t *testing.T) {
	for name, files := range map[string][]string{
		"configured": {".signalbox.yaml", "env: {GREETING: hello}\ntest: {command: 'test \"$GREETING\" = hello'}\n"},
		"make":       {".signalbox.yaml", "env: {GREETING: hello}\n", "Makefile", "test:\n\ttest \"$$GREETING\" = hello\n"},
	} {
		if ev := run(t, write(t, files...)); !ev.OK {
			t.Errorf("%s: got %+v", name, ev)
		}
	}
}

func TestARedBaseIsTriedOnceWithoutTheVariablesThatAreSetHere(t *testing.T) {
	for name, c := range map[string]struct {
		command    string
		ok, bare   bool
		runs, says string
	}{
		"green":                  {"true", true, false, "1", ""},
		"red because of CI":      {`test -z "$CI"`, true, true, "2", ""},
		"red because of locale":  {`test "$LANG" = C.UTF-8`, true, true, "2", ""},
		"red for its own reason": {"echo boom; exit 1", false, false, "2", "boom"},
		"a program is missing":   {"no-such-program", false, false, "1", "could not run"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("LANG", "de_DE.UTF-8")
			dir := t.TempDir()
			plan := testrun.Shell("echo x >> runs; " + c.command)
			ev, run, used, err := testrun.RunBase(t.Context(), dir, "c0ffee", plan, sandbox.Sandbox{})
			if err != nil || ev.OK != c.ok || run.OK != c.ok || used.IsBare() != c.bare || !strings.Contains(ev.Output, c.says) {
				t.Errorf("got %+v, bare %v, %v", ev, used.IsBare(), err)
			}
			runs, err := os.ReadFile(filepath.Join(dir, "runs"))
			if n := strings.Count(string(runs), "x"); err != nil || string('0'+rune(n)) != c.runs {
				t.Errorf("%d runs, %v, want %s", n, err, c.runs)
			}
		})
	}
}

func TestABaseThatTestsNothingSaysWhy(t *testing.T) {
	for name, c := range map[string]struct {
		files []string
		says  string
	}{
		"a build tag": {[]string{"go.mod", goMod, "money.go", money, "money_test.go", "//go:build integration\n\n" + tests},
			"go test ran no tests: money_test.go needs the build tag integration. Say in .signalbox.yaml how the tests are run"},
		"no file of tests": {[]string{"go.mod", goMod, "money.go", money}, "go test ran no tests: no file is named *_test.go."},
		"a file without tests": {[]string{"go.mod", goMod, "money.go", money, "money_test.go", "package money\n"},
			"go test ran no tests: money_test.go has no function whose name begins with Test."},
		"a constraint": {[]string{"go.mod", goMod, "money.go", money, "money_test.go", "//go:build e2e && !linux\n\npackage money\n"},
			"go test ran no tests: money_test.go needs the build constraint e2e && !linux."},
	} {
		t.Run(name, func(t *testing.T) {
			ev := run(t, write(t, c.files...))
			if got := testrun.Obstacle(ev); !testrun.NothingTested(ev) || !strings.HasPrefix(got, c.says) {
				t.Errorf("got %q of %+v", got, ev)
			}
		})
	}
	if got := testrun.Obstacle(run(t, write(t, "go.mod", goMod, "money.go", money, "money_test.go", tests))); got != "" {
		t.Errorf("tests that fail are an obstacle: %q", got)
	}
}

func TestWhatATestPrintsStaysInOrder(t *testing.T) {
	const files = 100 // of cargo, which names them on standard error
	dir := write(t, ".signalbox.yaml", `test: {command: "sh tests.sh"}`, "tests.sh", `i=0
while [ $i -lt 100 ]; do
	echo "     Running tests/a$i.rs (target/debug/deps/a$i-0123456789abcdef)" >&2
	echo "test adds ... ok"
	i=$((i+1))
done
echo "test result: ok. 100 passed; 0 failed; 0 ignored;"
`)
	plan, err := testrun.Detect(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	_, run, err := testrun.Run(t.Context(), dir, "c0ffee", plan, sandbox.Sandbox{})
	if err != nil || len(run.Tests) != files {
		t.Fatalf("got %d tests, %v", len(run.Tests), err)
	}
	for _, test := range run.Tests {
		if strings.HasSuffix(test.Name, "#2") {
			t.Fatalf("two tests of one file have the name %s", strings.TrimSuffix(test.Name, " #2"))
		}
	}
}
