package role_test

import (
	"context"
	"maps"
	"os/exec"

	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/testrun"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/work"
)

// by is a step with the role that made it.
type by struct {
	role string
	instance.Result
}

// testing returns a job in which the tester judges the steps. The job names the role that writes
// the code, and those that write the tests.
func (e *env) testing(testers []string, steps ...by) agent.Job {
	e.Helper()
	var results []instance.Result
	for _, s := range steps {
		results = append(results, s.Result)
	}
	job := e.job("tester", "running_tests", results...)
	for i, s := range steps {
		job.Bundles[i+1].Role = s.role
	}
	job.Writers, job.Testers = []string{"developer"}, testers
	return job
}

// judge runs a tester's job on the steps, and returns the evidence of the tests.
func (e *env) judge(testers []string, policy string, steps ...by) instance.Evidence {
	e.Helper()
	job := e.testing(testers, steps...)
	job.Policy = map[string]any{}
	if policy != "" {
		job.Policy["test_changes"] = policy
	}
	var told []instance.Evidence
	r, err := e.do(job, thinks(func(_ context.Context, a brain.Assignment) (brain.Outcome, error) {
		told = a.Evidence
		return says(instance.Success), nil
	}))
	if err != nil || len(r.Evidence) != 1 || len(told) != 1 || told[0].Data[work.Findings] != r.Evidence[0].Data[work.Findings] {
		e.Fatalf("it ended with %+v, %v; the tester was told %+v", r, err, told)
	}
	return r.Evidence[0]
}

func (e *env) left(role string, files map[string]string, steps ...by) by {
	e.Helper()
	state := map[string]string{"developer": "implementing", "tester": "creating_tests", "pm": "planning_approach"}[role]
	var results []instance.Result
	for _, s := range steps {
		results = append(results, s.Result)
	}
	r, err := e.do(e.job(role, state, results...), writes(files))
	if err != nil || r.Status != instance.Success {
		e.Fatalf("%s in %s ended with %+v, %v", role, state, r, err)
	}
	return by{role, r}
}

const (
	goMod    = "module example.test/sum\n\ngo 1.25\n"
	sumWrong = "package sum\n\nfunc Sum(a, b int) int { return a - b }\n"
	sumRight = "package sum\n\nfunc Sum(a, b int) int { return a + b }\n"
	sumTest  = "package sum\n\nimport \"testing\"\n\nfunc TestSum(t *testing.T) {\n\tif Sum(2, 3) != 5 {\n\t\tt.Error(\"the sum is wrong\")\n\t}\n}\n\n" +
		"func TestNothing(t *testing.T) {}\n"
	skipped = "package sum\n\nimport \"testing\"\n\nfunc TestSum(t *testing.T) {\n\tt.Skip(\"later\")\n}\n\nfunc TestNothing(t *testing.T) {}\n"
	fewer   = "package sum\n\nimport \"testing\"\n\nfunc TestNothing(t *testing.T) {}\n"
	onlySum = "package sum\n\nimport \"testing\"\n\nfunc TestSum(t *testing.T) {\n\tif Sum(2, 3) != 5 {\n\t\tt.Error(\"the sum is wrong\")\n\t}\n}\n"
	exits   = "package sum\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestMain(m *testing.M) { os.Exit(0) }\n"
)

func goRepository() map[string]string {
	return map[string]string{"go.mod": goMod, "sum.go": sumWrong, "sum_test.go": sumTest}
}

// Each attack makes the change pass its own tests, on the code as it was before. It was
// a pass and a pull request once.
func TestAChangeDoesNotPassByWhatItMakesOfTheTests(t *testing.T) {
	npm := map[string]string{
		"package.json": `{"name":"w","scripts":{"test":"sh run.sh"}}`, "run.sh": "grep -qx 42 answer.txt\n", "answer.txt": "41\n",
	}
	mk := map[string]string{"Makefile": "test:\n\tsh check.sh\n", "check.sh": "grep -qx 42 answer.txt\n", "answer.txt": "41\n"}
	configured := map[string]string{config: byFile, "check.sh": "grep -qx 42 answer.txt\n", "answer.txt": "41\n"}
	python := map[string]string{"test_sum.py": "import unittest\nfrom sums import add\n\nclass T(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(add(2, 3), 5)\n",
		"sums.py": "def add(a, b):\n    return a - b\n"}
	for _, c := range []struct {
		name   string
		needs  string
		base   map[string]string
		change map[string]string
		aside  string // what the finding names
	}{
		{"package.json runs true", "npm", npm, map[string]string{"package.json": `{"name":"w","scripts":{"test":"true"}}`}, "package.json"},
		{"package.json has another script shell", "npm", npm, map[string]string{".npmrc": "script-shell=/bin/true\n"}, ".npmrc"},
		{"package.json runs nothing before", "npm", npm,
			map[string]string{"package.json": `{"name":"w","scripts":{"pretest":"echo 42 > answer.txt","test":"sh run.sh"}}`}, "package.json"},
		{"what package.json calls exits", "npm", npm, map[string]string{"run.sh": "exit 0\n"}, "run.sh"},
		{"the Makefile runs true", "make", mk, map[string]string{"Makefile": "test:\n\ttrue\n"}, "Makefile"},
		{"another makefile comes first", "make", mk, map[string]string{"GNUmakefile": "test:\n\ttrue\n"}, "GNUmakefile"},
		{"what the configured command calls exits", "", configured, map[string]string{"check.sh": "exit 0\n"}, "check.sh"},
		{"TestMain exits", "go", goRepository(), map[string]string{"main_test.go": exits}, "main_test.go"},
		{"the test is skipped", "go", goRepository(), map[string]string{"sum_test.go": skipped}, "sum_test.go"},
		{"the test is deleted", "go", goRepository(), map[string]string{"sum_test.go": fewer}, "sum_test.go"},
		{"all tests are deleted but a new one", "go", goRepository(), map[string]string{"sum_test.go": "", "other_test.go": fewer},
			"other_test.go, sum_test.go"},
		{"the tests are not built", "go", goRepository(),
			map[string]string{"sum_test.go": "//go:build never\n\n" + sumTest, "other_test.go": fewer}, "other_test.go, sum_test.go"},
		{"the unit test is skipped", "python3", python, map[string]string{
			"test_sum.py": "import unittest\n\nclass T(unittest.TestCase):\n    def test_add(self):\n        pass\n"}, "test_sum.py"},
		{"a module of its own takes the package's tests away", "go", goRepository(),
			map[string]string{"go.mod": goMod, "sum_test.go": fewer, "sub/go.mod": "module example.test/sub\n"}, "sub/go.mod, sum_test.go"},
		{"a module takes the runner's place", "python3", python, map[string]string{"unittest.py": "raise SystemExit(0)\n"}, "unittest.py"},
		{"python starts otherwise", "python3", python, map[string]string{"sitecustomize.py": "import os\nos._exit(0)\n"}, "sitecustomize.py"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := exec.LookPath(c.needs); c.needs != "" && err != nil {
				t.Skip(err)
			}
			e := newEnv(t, maps.Clone(c.base))
			step := e.left("developer", c.change)
			ev := e.judge([]string{"tester"}, "", step)
			if found := ev.Data[work.Findings]; ev.OK || ev.Commit != step.Head || !strings.Contains(found, c.aside) || ev.ExitCode == -1 {
				t.Errorf("the evidence is %+v, found is %q", ev, found)
			}
			if ev := e.judge([]string{"tester"}, "refuse", step); ev.OK || ev.ExitCode != -1 || !strings.Contains(ev.Output, c.aside) ||
				testrun.Signature(ev) == "" {
				t.Errorf("the refusal is %+v", ev)
			}
		})
	}
}

// What is imported by the tests may end the run with 0 before there is a test.
func TestARunWithoutAnyTestOfTheBaseIsNoPass(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip(err)
	}
	e := newEnv(t, map[string]string{"sums.py": "def add(a, b):\n    return a - b\n",
		"test_sum.py": "import unittest\nfrom sums import add\n\nclass T(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(add(2, 3), 5)\n"})
	step := e.left("developer", map[string]string{"sums.py": "import os\nos._exit(0)\n"})
	for _, policy := range []string{"", "allow"} {
		if ev := e.judge([]string{"tester"}, policy, step); ev.OK || !strings.HasPrefix(ev.Output, "nothing was tested: none of the 1 tests") {
			t.Errorf("with the policy %q the evidence is %+v", policy, ev)
		}
	}
}

func TestConftestIsThatOfTheBase(t *testing.T) {
	if exec.Command("python3", "-m", "pytest", "--version").Run() != nil {
		t.Skip("there is no pytest")
	}
	e := newEnv(t, map[string]string{"conftest.py": "", "test_sum.py": "from sums import add\n\ndef test_add():\n    assert add(2, 3) == 5\n",
		"sums.py": "def add(a, b):\n    return a - b\n"})
	step := e.left("developer", map[string]string{"conftest.py": "import os\nimport pytest\n\ndef pytest_configure(config):\n    os._exit(0)\n"})
	if ev := e.judge([]string{"tester"}, "", step); ev.OK || !strings.Contains(ev.Data[work.Findings], "conftest.py") {
		t.Errorf("the evidence is %+v", ev)
	}
}

func TestAnHonestChangePassesTheGateWithoutAFinding(t *testing.T) {
	e := newEnv(t, goRepository())
	step := e.left("developer", map[string]string{"sum.go": sumRight, "go.mod": goMod + "\n// more\n", "doc.go": "package sum\n"})
	if ev := e.judge([]string{"tester"}, "", step); !ev.OK || ev.Passed != 2 || len(ev.Data) != 0 {
		t.Errorf("the evidence is %+v", ev)
	}
}

func TestAChangeMayAddWhatItNeedsToPackageJSON(t *testing.T) {
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip(err)
	}
	e := newEnv(t, map[string]string{"package.json": `{"name":"w","scripts":{"test":"grep -qx 42 answer.txt"}}`, "answer.txt": "41\n"})
	step := e.left("developer", map[string]string{"answer.txt": "42\n",
		"package.json": `{"name":"w","version":"1.0.1","dependencies":{"left-pad":"1.3.0"},"scripts":{"test":"grep -qx 42 answer.txt"}}`})
	if ev := e.judge([]string{"tester"}, "", step); !ev.OK || len(ev.Data) != 0 {
		t.Errorf("the evidence is %+v", ev)
	}
}

func TestTheTestersTestsCountAndTheDevelopersChangesToThemDoNot(t *testing.T) {
	e := newEnv(t, goRepository())
	more := strings.Replace(sumTest, "Sum(2, 3) != 5", "Sum(2, 3) != 5 || Sum(0, 7) != 7", 1) + "\nfunc TestMore(t *testing.T) {}\n"
	written := e.left("tester", map[string]string{"sum_test.go": more,
		"more_test.go": "package sum\n\nimport \"testing\"\n\nfunc TestYetMore(t *testing.T) {}\n"})
	fixed := e.left("developer", map[string]string{"sum.go": sumRight}, written)
	if ev := e.judge([]string{"tester"}, "", written, fixed); !ev.OK || ev.Passed != 4 || len(ev.Data) != 0 {
		t.Errorf("the fix has %+v", ev)
	}
	// The developer takes the tester's tests away again, and leaves the code wrong.
	cheat := e.left("developer", map[string]string{"sum_test.go": fewer, "more_test.go": ""}, written)
	if ev := e.judge([]string{"tester"}, "", written, cheat); ev.OK || !strings.Contains(ev.Output, "example.test/sum.TestSum") ||
		!strings.Contains(ev.Data[work.Findings], "more_test.go, sum_test.go") {
		t.Errorf("the cheat has %+v", ev)
	}
	// The tester changes them: that is the honest way.
	changed := e.left("tester", map[string]string{"sum_test.go": fewer}, written, fixed)
	if ev := e.judge([]string{"tester"}, "", written, fixed, changed); !ev.OK || strings.Contains(ev.Data[work.Findings], "sum_test.go") {
		t.Errorf("the tester's change has %+v", ev)
	}
}

// In a lifecycle without a role that writes the tests, who writes the code writes them.
// What runs them stays as it was, and what is gone or skipped is said.
func TestWhoWritesTheCodeWritesTheTestsWhereNobodyElseDoes(t *testing.T) {
	for _, c := range []struct {
		name   string
		change map[string]string
		ok     bool
		finds  []string
	}{
		{"a new test", map[string]string{"sum.go": sumRight,
			"new_test.go": "package sum\n\nimport \"testing\"\n\nfunc TestNew(t *testing.T) {}\n"}, true, nil},
		{"a red test is deleted", map[string]string{"sum_test.go": fewer}, true, []string{"1 of 2 tests are gone"}},
		{"a test that passes is deleted", map[string]string{"sum_test.go": onlySum}, false, []string{"1 of 2 tests are gone"}},
		{"a red test is skipped", map[string]string{"sum_test.go": skipped}, true, []string{"1 tests are skipped, 1 more than before"}},
		{"TestMain exits", map[string]string{"main_test.go": exits}, false, []string{"main_test.go"}},
		{"the code exits before its tests",
			map[string]string{"sum.go": "package sum\n\nimport \"os\"\n\nfunc init() { os.Exit(0) }\n\nfunc Sum(a, b int) int { return 0 }\n"},
			false, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newEnv(t, goRepository())
			ev := e.judge(nil, "", e.left("developer", c.change))
			found := ev.Data[work.Findings]
			if ev.OK != c.ok || c.ok && c.finds == nil && found != "" {
				t.Errorf("the evidence is %+v", ev)
			}
			for _, want := range c.finds {
				if !strings.Contains(found, want) {
					t.Errorf("found is %q, want %q", found, want)
				}
			}
		})
	}
}

func TestThePolicyAllowTakesTheChangeAsItIs(t *testing.T) {
	e := newEnv(t, goRepository())
	step := e.left("developer", map[string]string{"sum_test.go": fewer})
	if ev := e.judge([]string{"tester"}, "allow", step); !ev.OK || ev.Data[work.Findings] != "1 of 2 tests are gone" {
		t.Errorf("the evidence is %+v", ev)
	}
	if ev := e.judge([]string{"tester"}, "", step); ev.OK {
		t.Errorf("without it the evidence is %+v", ev)
	}
}
