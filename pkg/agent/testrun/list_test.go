package testrun_test

import (
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/agent/testrun"
	"github.com/signalbox/signalbox/pkg/engine/verdict"
)

const pythonTests = `import unittest
class Money(unittest.TestCase):
    def test_ok(self): pass
    def test_bad(self):
        "parses cents"
        self.assertEqual(1, 2)
    def test_skip(self): self.skipTest("later")
`

func TestListNamesTheTestsAsARunDoes(t *testing.T) {
	for tool, c := range map[string]struct {
		files []string
		want  []string
	}{
		"go": {[]string{"go.mod", goMod, "money.go", money, "money_test.go", tests}, []string{"example.com/money.TestRounds", "example.com/money.TestWhole"}},
		"python3": {[]string{"tests/test_money.py", pythonTests},
			[]string{"test_money.Money.test_bad", "test_money.Money.test_ok", "test_money.Money.test_skip"}},
	} {
		t.Run(tool, func(t *testing.T) {
			if _, err := exec.LookPath(tool); err != nil {
				t.Skip(err)
			}
			dir := write(t, c.files...)
			plan, err := testrun.Detect(os.DirFS(dir))
			if err != nil {
				t.Fatal(err)
			}
			got, ok, err := testrun.List(t.Context(), dir, plan, sandbox.Sandbox{})
			if err != nil || !ok || !slices.Equal(got, c.want) {
				t.Errorf("got %q, %v, %v", got, ok, err)
			}
			_, run, err := testrun.Run(t.Context(), dir, "c0ffee", plan, sandbox.Sandbox{})
			if err != nil || run.OK || !run.Named || run.Commit != "c0ffee" {
				t.Fatalf("got %+v, %v", run, err)
			}
			var names []string
			for _, test := range run.Tests {
				names = append(names, test.Name)
			}
			if !slices.Equal(names, c.want) {
				t.Errorf("a run names %q", names)
			}
			only, ok := plan.Only(c.want[:1])
			if !ok {
				t.Fatal("they cannot be selected")
			}
			_, run, err = testrun.Run(t.Context(), dir, "c0ffee", only, sandbox.Sandbox{})
			if err != nil || len(run.Tests) != 1 || run.Tests[0].Name != c.want[0] || run.Tests[0].Outcome != verdict.Fail || run.Tests[0].Cause != verdict.Assertion {
				t.Errorf("selected, it runs %+v, %v", run.Tests, err)
			}
		})
	}
}

func TestListOfAnUnknownCommandIsNone(t *testing.T) {
	names, ok, err := testrun.List(t.Context(), t.TempDir(), testrun.Shell("make check"), sandbox.Sandbox{})
	if names != nil || ok || err != nil {
		t.Errorf("got %q, %v, %v", names, ok, err)
	}
}
