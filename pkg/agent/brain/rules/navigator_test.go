package rules_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/git/gittest"
)

// change makes a repository with a commit of before and one of after on top.
func change(t *testing.T, before, after map[string]string) brain.Assignment {
	t.Helper()
	repo := gittest.Repo(t)
	dir := repo.Dir()
	commit := func(files map[string]string) string {
		t.Helper()
		for name, content := range files {
			name = filepath.Join(dir, name)
			if content == "" {
				if err := os.Remove(name); err != nil {
					t.Fatal(err)
				}
				continue
			}
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		gittest.Run(t, repo, "add", "-A", "-f")
		gittest.Run(t, repo, "commit", "-q", "--allow-empty", "-m", "x")
		return gittest.Run(t, repo, "rev-parse", "HEAD")
	}
	base := commit(before)
	return brain.Assignment{State: "reviewing_code", Dir: dir, Base: base, Head: commit(after)}
}

func TestNavigatorReviewsAChange(t *testing.T) {
	const todo = "TO" + "DO"
	const code = "package money\n\nfunc Cents(f float64) int { return 0 }\n"
	for name, c := range map[string]struct {
		after map[string]string
		body  string
		found []string
		says  string
	}{
		"a change with its test":  {map[string]string{"money.go": code + "// Half up.\n", "money_test.go": "package money\n"}, "", nil, "Files changed: 2, lines: 2. Nothing found."},
		"a change without a test": {map[string]string{"money.go": code + "// Half up.\n"}, "", nil, "Files changed: 1, lines: 1, no tests among them. Nothing found."},
		"none":                    {nil, "", []string{"nothing was changed"}, "nothing was changed"},
		"a leftover":              {map[string]string{"money.go": code + "// " + todo + ": negative amounts\n"}, "", []string{"money.go has a leftover " + todo}, "money.go has a leftover " + todo},
		"a debugger":              {map[string]string{"cart.py": "import pdb\npdb.set_trace()\n"}, "", []string{"cart.py has a leftover pdb.set_trace("}, "cart.py"},
		"conflict markers":        {map[string]string{"money.go": code + "<<<<<<< HEAD\n=======\n>>>>>>> x\n"}, "", []string{"money.go has conflict markers"}, "conflict"},
		"a list of things to do":  {map[string]string{"NOTES.md": todo + "\n"}, "", nil, "Nothing found"},
		"another way to test":     {map[string]string{".signalbox.yaml": "test: {command: 'true'}\n"}, "", []string{".signalbox.yaml steers builds and checks, and the issue does not speak of it"}, "steers"},
		"a workflow asked for":    {map[string]string{".github/workflows/ci.yml": "on: push\n"}, "Please run ci.yml on push", nil, "Nothing found"},
		"a guard removed":         {map[string]string{".github/CODEOWNERS": ""}, "", []string{".github/CODEOWNERS steers builds and checks, and the issue does not speak of it"}, "steers"},
		"third-party code":        {map[string]string{"node_modules/x/index.js": "1\n"}, "", []string{"node_modules/x/index.js is generated or third-party code"}, "generated"},
		"a binary":                {map[string]string{"money": "\x7fELF\x00\x00"}, "", []string{"money is binary, and the issue does not speak of it"}, "binary"},
		"test data":               {map[string]string{"testdata/a.bin": "\x00\x00"}, "", nil, "Nothing found"},
		"too much":                {map[string]string{"money.go": strings.Repeat("// x\n", 900)}, "", []string{"903 lines changed are more than 800: too much to review at once"}, "903"},
	} {
		t.Run(name, func(t *testing.T) {
			a := change(t, map[string]string{"money.go": code, ".github/CODEOWNERS": "* @eve\n"}, c.after)
			a.Issue.Body = c.body
			out, err := rules.Navigator{}.Work(t.Context(), a)
			if err != nil || !out.Declared {
				t.Fatalf("declared %t, error %v", out.Declared, err)
			}
			r := out.Result
			if diff := cmp.Diff(c.found, r.IssuesFound); diff != "" {
				t.Errorf("found (-want +got):\n%s", diff)
			}
			if approved := c.found == nil; (r.Status == instance.Success) != approved || (r.ConfidenceScore >= threshold) != approved || !strings.Contains(r.Summary, c.says) {
				t.Errorf("got %+v", r)
			}
		})
	}
}

func TestNavigatorHonoursThePolicy(t *testing.T) {
	a := change(t, nil, map[string]string{"a.txt": "1\n2\n3\n"})
	a.Policy = map[string]any{"review_max_lines": "2"}
	out, err := rules.Navigator{}.Work(t.Context(), a)
	if err != nil || out.Result.Status != instance.Failure {
		t.Errorf("got %+v, error %v", out.Result, err)
	}
}

func TestNavigatorWithoutCode(t *testing.T) {
	out, err := rules.Navigator{}.Work(t.Context(), brain.Assignment{State: "reviewing_code"})
	if err != nil || out.Result.Status != instance.Blocked {
		t.Errorf("got %+v, error %v", out.Result, err)
	}
	a := change(t, nil, nil)
	a.Base = "0000000000000000000000000000000000000000"
	if _, err := (rules.Navigator{}).Work(t.Context(), a); err == nil {
		t.Error("reviews a change from a commit that there is not")
	}
}
