package testrun_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/agent/testrun"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

const (
	goMod = "module example.com/money\n\ngo 1.24\n"
	money = "package money\n\n// Cents truncates.\nfunc Cents(f float64) int { return int(f * 100) }\n"
	tests = `package money

import (
	"os"
	"testing"
)

func TestWhole(t *testing.T) {
	if got := Cents(2); got != 200 {
		t.Errorf("Cents(2) = %d, want 200", got)
	}
}

func TestRounds(t *testing.T) {
	t.Logf("in %s, pid %d, %p", t.TempDir(), os.Getpid(), t)
	if got := Cents(0.999); got != 100 {
		t.Errorf("Cents(0.999) = %d, want 100", got)
	}
}
`
	rounding = "package money\n\nimport \"math\"\n\n// Cents rounds.\nfunc Cents(f float64) int { return int(math.Round(f * 100)) }\n"
)

// write makes a directory of files: name, content, name, content, …
func write(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		name := filepath.Join(dir, files[i])
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(files[i+1]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func run(t *testing.T, dir string) instance.Evidence {
	t.Helper()
	plan, err := testrun.Detect(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	ev, _, err := testrun.Run(t.Context(), dir, "c0ffee", plan, sandbox.Sandbox{})
	if err != nil {
		t.Fatal(err)
	}
	return ev
}

func TestRunTellsWhichGoTestsFailAndWhy(t *testing.T) {
	dir := write(t, "go.mod", goMod, "money.go", money, "money_test.go", tests)
	ev := run(t, dir)
	if ev.OK || ev.Name != "tests" || ev.Commit != "c0ffee" || ev.Command != "go test -json ./..." || ev.ExitCode != 1 || ev.Passed != 1 {
		t.Errorf("got %+v", ev)
	}
	if diff := cmp.Diff([]string{"example.com/money.TestRounds"}, ev.Failed); diff != "" {
		t.Errorf("failed (-want +got):\n%s", diff)
	}
	if !strings.Contains(ev.Output, "money_test.go:17: Cents(0.999) = 99, want 100") || strings.Contains(ev.Output, "TestWhole") || strings.Contains(ev.Output, dir) {
		t.Errorf("output:\n%s", ev.Output)
	}
}

func TestRunIsOKWhenAllTestsPass(t *testing.T) {
	ev := run(t, write(t, "go.mod", goMod, "money.go", rounding, "money_test.go", tests))
	if !ev.OK || ev.Passed != 2 || len(ev.Failed) != 0 || ev.Output != "" || testrun.Signature(ev) != "" {
		t.Errorf("got %+v", ev)
	}
}

// A flake that passed once would pass for ever.
func TestASecondRunInATreeRepeatsNoResultOfTheFirst(t *testing.T) {
	for _, command := range [][]string{{"go", "test", "-json", "./..."}, {"sh", "-c", "go test ./..."}} {
		ran := filepath.Join(t.TempDir(), "ran")
		dir := write(t, "go.mod", goMod, "money_test.go", "package money\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\n"+
			"func TestOnce(t *testing.T) {\n\tf, err := os.OpenFile("+strconv.Quote(ran)+", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)\n"+
			"\tif err != nil {\n\t\tt.Fatal(err)\n\t}\n\tf.WriteString(\"x\")\n\tf.Close()\n}\n")
		for range 3 {
			if ev, _, err := testrun.Run(t.Context(), dir, "c0ffee", testrun.Plan{Argv: command, Timeout: time.Minute}, sandbox.Sandbox{}); err != nil || ev.ExitCode != 0 {
				t.Fatalf("it ended with %+v, %v", ev, err)
			}
		}
		if got, err := os.ReadFile(ran); err != nil || string(got) != "xxx" {
			t.Errorf("%q ran the test %d times of 3: %v", command, len(got), err)
		}
	}
}

func TestRunIsNotOKWhenNothingWasTested(t *testing.T) {
	ev := run(t, write(t, "go.mod", goMod, "money.go", money))
	if ev.OK || ev.ExitCode != 0 || ev.Passed != 0 || !strings.HasPrefix(ev.Output, "nothing was tested: no file is named *_test.go\n") || testrun.CouldNotRun(ev) {
		t.Errorf("got %+v", ev)
	}
}

func TestRunNamesAPackageThatDoesNotBuild(t *testing.T) {
	ev := run(t, write(t, "go.mod", goMod, "money.go", "package money\n\nfunc Cents(f float64) int { return \"no\" }\n", "money_test.go", tests))
	if diff := cmp.Diff([]string{"example.com/money (build failed)"}, ev.Failed); ev.OK || diff != "" {
		t.Errorf("OK %t, failed (-want +got):\n%s", ev.OK, diff)
	}
	if !strings.Contains(ev.Output, `cannot use "no"`) {
		t.Errorf("output:\n%s", ev.Output)
	}
}

func TestSignatureOfRealRuns(t *testing.T) {
	sign := func(code, tests string) string {
		t.Helper()
		return testrun.Signature(run(t, write(t, "go.mod", goMod, "money.go", code, "money_test.go", tests)))
	}
	first := sign(money, tests)
	for name, c := range map[string]struct {
		code, tests string
		same        bool
	}{
		"the same again, elsewhere":    {money, tests, true},
		"an edit that changes nothing": {strings.Replace(money, "// Cents", "// Cents, as of today,", 1), tests, true},
		"another value":                {strings.Replace(money, "f * 100", "f * 10", 1), tests, false},
		"another assertion":            {money, strings.Replace(tests, "got != 200", "got != 201", 1), false},
		"a panic":                      {strings.Replace(money, "return", "panic(1); return", 1), tests, false},
	} {
		t.Run(name, func(t *testing.T) {
			if again := sign(c.code, c.tests); (again == first) != c.same {
				t.Errorf("signatures %s and %s", first, again)
			}
		})
	}
	t.Run("a panic in code that moved", func(t *testing.T) {
		panics := strings.Replace(money, "return", "panic(1); return", 1)
		if a, b := sign(panics, tests), sign("// Moved.\n\n"+panics, tests); a != b {
			t.Errorf("signatures %s and %s", a, b)
		}
	})
}

func TestRunOfAConfiguredCommand(t *testing.T) {
	for name, c := range map[string]struct {
		command string
		ok      bool
		could   bool
		code    int
		says    string
	}{
		"exits 0":                   {"true", true, true, 0, ""},
		"exits 3":                   {"echo boom; exit 3", false, true, 3, "boom"},
		"calls what is missing":     {"no-such-program --test", false, false, 127, "could not run: "},
		"hides a failing test":      {"printf 'FAILED a.py::x - boom\\n1 failed, 2 passed in 0.10s\\n'; true", false, true, 0, "exit code 0, yet tests are reported as failing"},
		"finds nothing to test":     {"echo 'no tests ran in 0.00s'", false, true, 0, "nothing was tested"},
		"does not end":              {"echo started; sleep 60", false, true, -1, "stopped after 200ms (wall time limit)"},
		"is believed for its words": {"echo '3 tests run, 1 failed'; echo '1 failed'", false, true, 0, "exit code 0, yet the output reports failing tests"},
		"says that none failed":     {"echo '0 failed, 3 passed'; echo 'Failed: 0'", true, true, 0, ""},
		"links in its output":       {`printf '\033]8;;file://a\033\\name\033]8;;\033\\ and \033]0;title\007more'; exit 1`, false, true, 1, "name and more"},
		"prints colours and dirs":   {`printf '\033[31mred\033[0m %s/a.txt\n' "$PWD"; exit 1`, false, true, 1, "red a.txt"},
	} {
		t.Run(name, func(t *testing.T) {
			plan := testrun.Plan{Tool: "configured", Argv: []string{"sh", "-c", c.command}, Timeout: time.Minute}
			if c.code == -1 {
				plan.Timeout = 200 * time.Millisecond
			}
			ev, _, err := testrun.Run(t.Context(), t.TempDir(), "c0ffee", plan, sandbox.Sandbox{})
			if err != nil {
				t.Fatal(err)
			}
			if ev.OK != c.ok || testrun.CouldNotRun(ev) == c.could || !strings.HasPrefix(ev.Output, c.says) {
				t.Errorf("got %+v", ev)
			}
			if c.code >= 0 && ev.ExitCode != c.code {
				t.Errorf("exit code %d, want %d", ev.ExitCode, c.code)
			}
		})
	}
}

func TestRunSaysThatTheToolIsMissing(t *testing.T) {
	plan := testrun.Plan{Tool: "cargo", Argv: []string{"no-such-cargo", "test"}, Timeout: time.Minute}
	ev, _, err := testrun.Run(t.Context(), t.TempDir(), "c0ffee", plan, sandbox.Sandbox{})
	if err != nil {
		t.Fatal(err)
	}
	if ev.OK || !testrun.CouldNotRun(ev) || ev.Output != "could not run: no-such-cargo is not installed here" {
		t.Errorf("got %+v", ev)
	}
}

type broken struct{ err error }

func (b broken) Run(context.Context, sandbox.Command) (sandbox.Result, error) {
	return sandbox.Result{ExitCode: -1}, b.err
}

func TestRunBlamesTheMachineForWhatItDid(t *testing.T) {
	plan := testrun.Plan{Tool: "go", Argv: []string{"go", "test"}, Timeout: time.Minute}
	t.Run("a runner that fails", func(t *testing.T) {
		disk := errors.New("no space left")
		_, _, err := testrun.Run(t.Context(), t.TempDir(), "c0ffee", plan, broken{disk})
		if !errors.Is(err, brain.ErrInfrastructure) || !errors.Is(err, disk) || !strings.Contains(err.Error(), "c0ffee") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a context that ended", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, _, err := testrun.Run(ctx, t.TempDir(), "c0ffee", plan, sandbox.Sandbox{})
		if !errors.Is(err, brain.ErrInfrastructure) || !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a directory that is gone", func(t *testing.T) {
		_, _, err := testrun.Run(t.Context(), filepath.Join(t.TempDir(), "gone"), "c0ffee", plan, sandbox.Sandbox{})
		if !errors.Is(err, brain.ErrInfrastructure) {
			t.Errorf("got %v", err)
		}
	})
}
