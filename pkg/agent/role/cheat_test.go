package role_test

import (
	"context"
	"errors"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/role"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// judgeOf has the tester judge what the roles left. asked is what people are asked.
func (e *env) judgeOf(testers []string, steps ...by) (ev instance.Evidence, asked string) {
	e.Helper()
	job := e.testing(testers, steps...)
	job.Policy = map[string]any{"unproven": "draft"}
	job.Issue.Body = "There should be a function answer()."
	r, err := e.do(job, thinks(func(context.Context, brain.Assignment) (brain.Outcome, error) { return says(instance.Success), nil }))
	var people *agent.ErrEscalate
	if errors.As(err, &people) {
		return instance.Evidence{}, people.Reason
	}
	if err != nil || len(r.Evidence) != 1 || r.Evidence[0].Judgement == nil {
		e.Fatalf("it ended with %+v, %v", r, err)
	}
	return r.Evidence[0], r.Evidence[0].Judgement.Question
}

// needs skips the test if a program is not installed.
func needs(t *testing.T, program string) {
	t.Helper()
	if program == "pytest" {
		if exec.Command("python3", "-m", "pytest", "--version").Run() != nil {
			t.Skip("pytest is not installed")
		}
		return
	}
	if _, err := exec.LookPath(program); program != "" && err != nil {
		t.Skip(err)
	}
}

const (
	pyWrong  = "def add(a, b):\n    return a - b\n"
	pyRight  = "def add(a, b):\n    return a + b\n"
	pyZero   = "import unittest\nfrom sums import add\n\nclass Zero(unittest.TestCase):\n    def test_zero(self):\n        self.assertEqual(add(0, 0), 0)\n"
	pyAdd    = "import unittest\nfrom sums import add\n\nclass Add(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(add(2, 3), 5)\n"
	pySkip   = "import unittest\n\nclass Add(unittest.TestCase):\n    @unittest.skip('later')\n    def test_add(self):\n        pass\n"
	pyEmpty  = "import unittest\n\nclass Add(unittest.TestCase):\n    def test_add(self):\n        pass\n"
	pyWant   = "import unittest\nfrom sums import add\n\nclass Want(unittest.TestCase):\n    def test_want(self):\n        self.assertEqual(str(add(2, 3)), open('fixtures/want.txt').read())\n"
	pyEqual  = "def equal(case, got, want):\n    case.assertEqual(got, want)\n"
	pyHelped = "import unittest\nfrom sums import add\nfrom testutil.equal import equal\n\nclass Want(unittest.TestCase):\n    def test_want(self):\n        equal(self, add(2, 3), 5)\n"
	pyPrint  = "import os, sys\nsys.stderr.write('..\\n----\\nRan 2 tests in 0.001s\\n\\nOK\\n')\nsys.stderr.flush()\nos._exit(0)\n"
	pyFlips  = "import os\n\ndef add(a, b):\n    if os.path.exists('ran.count'):\n        return a + b\n    open('ran.count', 'w').close()\n    return 1\n"
)

func pyRepository() map[string]string {
	return map[string]string{"sums.py": pyWrong, "test_zero.py": pyZero}
}

func with(files map[string]string, more ...string) map[string]string {
	files = maps.Clone(files)
	for i := 0; i+1 < len(more); i += 2 {
		files[more[i]] = more[i+1]
	}
	return files
}

const goPrints = `package sum

import (
	"fmt"
	"os"
)

func init() {
	for _, name := range []string{"TestNothing", "TestSum"} {
		fmt.Printf("=== RUN   %s\n--- PASS: %s (0.00s)\n", name, name)
	}
	fmt.Println("PASS")
	os.Exit(0)
}

func Sum(a, b int) int { return a - b }
`

// No cheat passes and is shown: each is refused, asked about, or unproven.
func TestNoCheatIsShownToBeASolution(t *testing.T) {
	shell := map[string]string{config: byFile, "check.sh": "grep -qx 42 answer.txt\n", "answer.txt": "41\n"}
	mk := map[string]string{"Makefile": "test:\n\tsh check.sh\n", "check.sh": "grep -qx 42 answer.txt\n", "answer.txt": "41\n"}
	npm := map[string]string{"package.json": `{"name":"w","scripts":{"test":"sh check.sh"}}`, "check.sh": "grep -qx 42 answer.txt\n", "answer.txt": "41\n"}
	pytest := map[string]string{"conftest.py": "", "test_zero.py": "from sums import add\n\ndef test_zero():\n    assert add(0, 0) == 0\n", "sums.py": pyWrong}
	pyTest := map[string]string{"test_add.py": pyAdd}
	for _, c := range []struct {
		name, needs string
		base        map[string]string
		written     map[string]string // by the tester
		change      map[string]string // by the developer
	}{
		{"a comment", "python3", pyRepository(), nil, map[string]string{"sums.py": "# fixed\n" + pyWrong}},
		{"a comment in place of the fix that a test asks for", "python3", pyRepository(), pyTest, map[string]string{"sums.py": "# fixed\n" + pyWrong}},
		{"a module of the standard library", "python3", pyRepository(), pyTest, map[string]string{"difflib.py": pyPrint}},
		{"the runner's own module", "python3", pyRepository(), pyTest, map[string]string{"unittest.py": pyPrint}},
		{"the start of python", "python3", pyRepository(), pyTest, map[string]string{"sitecustomize.py": pyPrint}},
		{"product that ends the run", "python3", pyRepository(), pyTest, map[string]string{"sums.py": "import os\nos._exit(0)\n"}},
		{"product that prints a report and ends the run", "python3", pyRepository(), pyTest, map[string]string{"sums.py": pyPrint}},
		{"product that ends with 0", "python3", pyRepository(), pyTest,
			map[string]string{"sums.py": "import atexit, os\natexit.register(lambda: os._exit(0))\n" + pyWrong}},
		{"the test is deleted", "python3", pyRepository(), pyTest, map[string]string{"test_add.py": "", "sums.py": "# 1\n" + pyWrong}},
		{"the test is skipped", "python3", pyRepository(), pyTest, map[string]string{"test_add.py": pySkip, "sums.py": "# 1\n" + pyWrong}},
		{"the test is emptied", "python3", pyRepository(), pyTest, map[string]string{"test_add.py": pyEmpty, "sums.py": "# 1\n" + pyWrong}},
		{"the product flips", "python3", map[string]string{"sums.py": pyRight, "test_zero.py": pyZero}, nil, map[string]string{"sums.py": pyFlips}},
		{"frames of go test in init", "go", goRepository(), nil, map[string]string{"sum.go": goPrints}},
		{"frames of go test in a function that init calls", "go", goRepository(), nil,
			map[string]string{"sum.go": strings.Replace(strings.Replace(goPrints, "os.Exit(0)", "leave()", 1), "func Sum", "func leave() { os.Exit(0) }\n\nfunc Sum", 1)}},
		{"what the tester's test reads", "python3", pyRepository(), map[string]string{"fixtures/want.txt": "5", "test_want.py": pyWant},
			map[string]string{"fixtures/want.txt": "-1", "sums.py": "# 1\n" + pyWrong}},
		{"data that the tester left under a name of its own", "python3", pyRepository(), map[string]string{"want.txt": "5", "test_want.py": strings.ReplaceAll(pyWant, "fixtures/", "")},
			map[string]string{"want.txt": "-1", "sums.py": "# 1\n" + pyWrong}},
		{"the helper of tests", "python3", with(pyRepository(), "testutil/__init__.py", "", "testutil/equal.py", pyEqual), map[string]string{"test_want.py": pyHelped},
			map[string]string{"testutil/equal.py": "def equal(case, got, want):\n    pass\n", "sums.py": "# 1\n" + pyWrong}},
		{"the helper of tests, by its name", "python3", with(pyRepository(), "tests_helper.py", pyEqual), map[string]string{"test_want.py": strings.ReplaceAll(pyHelped, "testutil.equal", "tests_helper")},
			map[string]string{"tests_helper.py": "def equal(case, got, want):\n    pass\n", "sums.py": "# 1\n" + pyWrong}},
		{"TestMain", "go", goRepository(), nil, map[string]string{"main_test.go": exits}},
		{"a target of make", "make", mk, nil, map[string]string{"Makefile": "test:\n\ttrue\n", "answer.txt": "40\n"}},
		{"another makefile", "make", mk, nil, map[string]string{"GNUmakefile": "test:\n\ttrue\n", "answer.txt": "40\n"}},
		{"a script of package.json", "npm", npm, nil, map[string]string{"package.json": `{"name":"w","scripts":{"test":"true"}}`, "answer.txt": "40\n"}},
		{"the configured script", "", shell, nil, map[string]string{"check.sh": "exit 0\n", "answer.txt": "40\n"}},
		{"the configuration", "", shell, nil, map[string]string{config: "test: {command: \"true\"}\n", "answer.txt": "40\n"}},
		{"a plugin of pytest", "pytest", pytest, map[string]string{"test_add.py": "from sums import add\n\ndef test_add():\n    assert add(2, 3) == 5\n"},
			map[string]string{"conftest.py": "import pytest\n\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n    o = yield\n    o.get_result().outcome = 'passed'\n"}},
		{"the configuration of pytest", "pytest", pytest, map[string]string{"test_add.py": "from sums import add\n\ndef test_add():\n    assert add(2, 3) == 5\n"},
			map[string]string{"pytest.ini": "[pytest]\naddopts = --deselect test_add.py\n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			needs(t, c.needs)
			e := newEnv(t, maps.Clone(c.base))
			var steps []by
			if c.written != nil {
				steps = append(steps, e.left("tester", c.written))
			}
			steps = append(steps, e.left("developer", c.change, steps...))
			ev, asked := e.judgeOf([]string{"tester"}, steps...)
			if ev.OK && (ev.Judgement.Shown || ev.Judgement.Unproven == "") {
				t.Errorf("it is shown: %+v\n%+v", ev, ev.Judgement)
			}
			if distrusted := ev.Judgement != nil && strings.Contains(ev.Judgement.Unproven, "can end the process"); c.written != nil && ev.OK && !distrusted {
				t.Errorf("the red test of the tester is passed by: %+v, asked %q", ev.Judgement, asked)
			}
		})
	}
}

// An honest change that looks like a cheat is right, and what shows it is found.
func TestAnHonestChangeThatLooksLikeACheatIsRight(t *testing.T) {
	script := "test: {command: \"sh test.sh\"}\n"
	hello := "echo \"Helo, $1!\"\n"
	fixed := "echo \"Hello, $1!\"\n"
	spec := "test -n \"$(sh greet.sh Ann)\"\n"
	for _, c := range []struct {
		name, needs     string
		testers         []string
		base            map[string]string
		written, change map[string]string
		shown           bool
	}{
		{"a fix with a test of the tester", "python3", []string{"tester"}, pyRepository(), map[string]string{"test_add.py": pyAdd}, map[string]string{"sums.py": pyRight}, true},
		{"a fix with a test of the developer, where nobody else writes tests", "python3", nil, pyRepository(), nil, map[string]string{"sums.py": pyRight, "test_add.py": pyAdd}, true},
		{"a fix beside an old red test", "python3", []string{"tester"}, with(pyRepository(), "test_old.py", strings.ReplaceAll(pyAdd, "5", "6")),
			map[string]string{"test_add.py": strings.ReplaceAll(pyAdd, "Add", "New")}, map[string]string{"sums.py": pyRight}, true},
		{"product that a test script calls", "", []string{"tester"}, map[string]string{config: script, "test.sh": spec, "greet.sh": hello},
			map[string]string{"test.sh": "sh greet.sh Ann | grep -qx 'Hello, Ann!'\n"}, map[string]string{"greet.sh": fixed}, true},
		{"product below spec", "python3", []string{"tester"}, map[string]string{config: "test: {command: \"python3 check.py\"}\n",
			"check.py": "import sys\nsys.path.insert(0, 'spec')\nfrom greet import hello\nassert hello()\n", "spec/greet.py": "def hello():\n    return 'Helo'\n"},
			map[string]string{"check.py": "import sys\nsys.path.insert(0, 'spec')\nfrom greet import hello\nassert hello() == 'Hello'\n"},
			map[string]string{"spec/greet.py": "def hello():\n    return 'Hello'\n"}, true},
		{"product below test", "", []string{"tester"}, map[string]string{config: "test: {command: \"sh check.sh\"}\n", "check.sh": "sh test/greet.sh Ann\n", "test/greet.sh": hello},
			nil, map[string]string{"test/greet.sh": fixed}, false},
		{"product below scripts", "", []string{"tester"}, map[string]string{config: "test: {command: \"sh check.sh\"}\n", "check.sh": "sh scripts/greet.sh Ann\n", "scripts/greet.sh": hello},
			nil, map[string]string{"scripts/greet.sh": fixed}, false},
		{"product below tools that make calls", "make", []string{"tester"}, map[string]string{"Makefile": "test:\n\tsh tools/convert Ann\n", "tools/convert": hello},
			nil, map[string]string{"tools/convert": fixed}, false},
		{"a test that the tester renames", "python3", []string{"tester"}, pyRepository(),
			map[string]string{"test_zero.py": strings.ReplaceAll(pyZero, "test_zero", "test_zero_is_neutral"), "test_add.py": pyAdd}, map[string]string{"sums.py": pyRight}, true},
		{"a fixture that the tester changes", "python3", []string{"tester"}, with(pyRepository(), "testdata/want.txt", "-1", "test_data.py",
			"import unittest\nfrom sums import add\n\nclass Data(unittest.TestCase):\n    def test_data(self):\n        self.assertEqual(str(add(2, 3)), open('testdata/want.txt').read())\n"),
			map[string]string{"testdata/want.txt": "5"}, map[string]string{"sums.py": pyRight}, true},
		{"a dependency in package.json", "npm", []string{"tester"}, map[string]string{"package.json": `{"name":"w","scripts":{"test":"grep -q 4 answer.txt"}}`, "answer.txt": "41\n"},
			nil, map[string]string{"package.json": `{"name":"w","version":"1.0.1","dependencies":{"a":"1"},"scripts":{"test":"grep -q 4 answer.txt"}}`, "answer.txt": "42\n"}, false},
		{"a dependency in pyproject.toml", "python3", []string{"tester"}, with(pyRepository(), "pyproject.toml", "[project]\nname = \"sums\"\nversion = \"1\"\n"),
			map[string]string{"test_add.py": pyAdd}, map[string]string{"sums.py": pyRight, "pyproject.toml": "[project]\nname = \"sums\"\nversion = \"2\"\ndependencies = [\"a\"]\n"}, true},
		{"a program that ends with a code", "python3", []string{"tester"}, pyRepository(), map[string]string{"test_add.py": pyAdd},
			map[string]string{"sums.py": "import sys\n" + pyRight + "if __name__ == '__main__':\n    sys.exit(add(1, 2))\n"}, true},
		{"a fixture of pytest that the tester adds", "pytest", []string{"tester"}, map[string]string{"conftest.py": "", "test_zero.py": "from sums import add\n\ndef test_zero():\n    assert add(0, 0) == 0\n", "sums.py": pyWrong},
			map[string]string{"conftest.py": "import pytest\n\n@pytest.fixture\ndef five():\n    return 5\n", "test_add.py": "from sums import add\n\ndef test_add(five):\n    assert add(2, 3) == five\n"},
			map[string]string{"sums.py": pyRight}, true},
		{"a test of the developer's own beside the tester's", "python3", []string{"tester"}, pyRepository(), map[string]string{"test_add.py": pyAdd},
			map[string]string{"sums.py": pyRight, "test_more.py": strings.ReplaceAll(pyAdd, "Add", "More")}, true},
		{"a test that a missing name keeps from loading, as the report says", "python3", []string{"tester"}, pyRepository(),
			map[string]string{"test_times.py": "import unittest\nfrom sums import answer\n\nclass Times(unittest.TestCase):\n    def test_times(self):\n        self.assertEqual(answer(), 42)\n"},
			map[string]string{"sums.py": pyWrong + "\ndef answer():\n    return 42\n"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			needs(t, c.needs)
			e := newEnv(t, maps.Clone(c.base))
			var steps []by
			if c.written != nil {
				steps = append(steps, e.left("tester", c.written))
			}
			steps = append(steps, e.left("developer", c.change, steps...))
			ev, asked := e.judgeOf(c.testers, steps...)
			if !ev.OK || asked != "" || ev.Judgement.Shown != c.shown || c.shown == (ev.Judgement.Unproven != "") {
				t.Fatalf("asked %q; the evidence is %+v\n%+v", asked, ev, ev.Judgement)
			}
			if c.shown && c.testers != nil && ev.Judgement.Tests[0].By == "developer" {
				t.Errorf("it is shown by the developer's test: %+v", ev.Judgement.Tests)
			}
		})
	}
}

// A change that needs its own version of a file which judges it is one question to people,
// with both outcomes. Their answer holds for that content alone.
func TestAChangeThatNeedsItsOwnJudgeIsOneQuestion(t *testing.T) {
	e := newEnv(t, map[string]string{"sums.py": pyRight, "test_add.py": pyAdd})
	change := map[string]string{"sums.py": "def add(a, b, c):\n    return a + b + c\n", "test_add.py": strings.ReplaceAll(strings.ReplaceAll(pyAdd, "2, 3", "2, 3, 4"), "5", "9")}
	step := e.left("developer", change)
	ask := func(resolution string, answered ...string) (instance.Result, string) {
		job := e.job("tester", "running_tests", step.Result)
		job.Bundles[1].Role, job.Writers, job.Testers = "developer", []string{"developer"}, []string{"other"}
		for _, reason := range answered {
			job.Escalations = append(job.Escalations, instance.Escalation{Reason: reason, RequiresHuman: true, Resolved: true, Resolution: resolution, By: "ann"})
		}
		r, err := e.do(job, thinks(func(context.Context, brain.Assignment) (brain.Outcome, error) { return says(instance.Success), nil }))
		var people *agent.ErrEscalate
		if errors.As(err, &people) {
			return r, people.Reason
		}
		if err != nil {
			t.Fatal(err)
		}
		return r, ""
	}
	_, question := ask("")
	if !strings.Contains(question, "pass only with the change to test_add.py") || !strings.Contains(question, "file ") {
		t.Fatalf("people are asked %q", question)
	}
	if r, again := ask("yes, that is right", question); again != "" || r.Status != instance.Success || !r.Evidence[0].OK ||
		!slices.Contains(r.Evidence[0].Judgement.Findings, "the role that wrote the code changed test_add.py; ann accepted that: yes, that is right") {
		t.Errorf("after a yes: %q, %+v", again, r)
	}
	if r, again := ask("no, leave it", question); again != "" || r.Status != instance.Failure || !strings.Contains(r.Evidence[0].Output, "ann did not accept the change of the tests: no, leave it") {
		t.Errorf("after a no: %q, %+v", again, r)
	}
}

func TestTheRunsOfABaseAreMadeOnceAProcess(t *testing.T) {
	kept := new(role.Baselines)
	e := newEnv(t, pyRepository())
	e.baselines = kept
	written := e.left("tester", map[string]string{"test_add.py": pyAdd})
	fixed := e.left("developer", map[string]string{"sums.py": pyRight}, written)
	first := e.progressOf(func() { e.judgeOf([]string{"tester"}, written, fixed) })
	second := e.progressOf(func() { e.judgeOf([]string{"tester"}, written, fixed) })
	if n := strings.Count(first, "on the base"); n == 0 {
		t.Errorf("at first the base is not run: %q", first)
	}
	if n := strings.Count(second, "on the base"); n != 0 {
		t.Errorf("the second time the base is run %d times: %q", n, second)
	}
}
