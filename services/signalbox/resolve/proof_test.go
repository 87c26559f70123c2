package resolve_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/git/gittest"
)

// lastLine returns the last line that a run printed to standard error.
func lastLine(said string) string {
	lines := strings.Split(strings.TrimSpace(said), "\n")
	return lines[len(lines)-1]
}

func TestAnUnprovenBranchEndsAsThePolicySays(t *testing.T) {
	const unproven = "UNPROVEN: all tests that ran passed before the change as well"
	for policy, want := range map[string]struct {
		code    int
		last    string // the last line begins so
		drafted bool
	}{
		"allow":  {0, unproven, false},
		"draft":  {0, unproven, true},
		"ask":    {3, "signalbox: not resolved: ", false},
		"refuse": {1, "signalbox: not resolved: ", false},
	} {
		t.Run(policy, func(t *testing.T) {
			j := newJob(t)
			workflows := t.TempDir()
			overlay := fmt.Sprintf("workflow: issue\nversion: 2\nextends: issue\npolicy: {unproven: %s}\n", policy)
			if err := os.WriteFile(filepath.Join(workflows, "issue.yaml"), []byte(overlay), 0o644); err != nil {
				t.Fatal(err)
			}
			args := []string{"resolve", "--issue", j.file("issue.md", clear), "--workflow-dir", workflows, "--brain", `developer=exec:echo hello, world > greeting`}
			out, said, code := j.call(args...)
			if code != want.code || !strings.HasPrefix(lastLine(said), want.last) {
				t.Fatalf("it ended with %d, and its last line is %q, of\n%s", code, lastLine(said), said)
			}
			if out.Shown || out.Unproven == "" || len(out.ShownBy) != 0 {
				t.Errorf("as JSON it is %+v", out)
			}
			if want.code != 0 {
				if out.Branch != "" {
					t.Errorf("the branch %s is ready", out.Branch)
				}
				return
			}
			if out.PullRequest == nil || out.PullRequest.Draft != want.drafted {
				t.Errorf("the pull request is %+v", out.PullRequest)
			}
			if out, said, code := j.call(append(args, "--require", "shown")...); code != 1 || out.Branch == "" ||
				!strings.Contains(said, "\n"+unproven+"\n") || !strings.HasPrefix(lastLine(said), "signalbox: unproven, ") {
				t.Errorf("with --require shown it ended with %d, branch %q, and said %s", code, out.Branch, said)
			}
		})
	}
}

func TestAShownBranchEndsWithTheTestThatShowsIt(t *testing.T) {
	j := newJob(t)
	g := git.New(j.repo).WithIdentity("Ada", "ada@example.test")
	if err := os.WriteFile(filepath.Join(j.repo, "check.sh"), []byte("grep -qx 'hello, world' greeting || { cat greeting; exit 1; }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	gittest.Run(t, g, "commit", "-q", "-a", "-m", "ask for more")
	out, said, code := j.call("resolve", "--issue", j.file("issue.md", clear), "--require", "shown", "--brain", `developer=exec:echo hello, world > greeting`)
	if last := lastLine(said); code != 0 || !strings.HasPrefix(last, "shown: sh check.sh failed on ") || !strings.HasSuffix(last, " and passes now") {
		t.Fatalf("it ended with %d: %s", code, said)
	}
	if !out.Shown || out.Unproven != "" || len(out.ShownBy) != 1 || out.ShownBy[0].Change != out.Head || out.ShownBy[0].Base != out.Base {
		t.Errorf("as JSON it is %+v", out)
	}
	if e := out.PullRequest.Evidence; e == nil || e.Head != out.Head || len(e.Criteria) == 0 || !slices.ContainsFunc(e.Criteria, func(c rules.Criterion) bool {
		return c.From == rules.OfWhole && len(c.Tests) == 1 && c.Tests[0].Name == "sh check.sh"
	}) {
		t.Errorf("the evidence of the pull request is %+v", e)
	}
	if summary := j.read("summary.md"); !strings.Contains(summary, "| proof | shown: sh check.sh failed on ") {
		t.Errorf("the summary is %s", summary)
	}
}

func TestTheDemonstrationIsInThePullRequest(t *testing.T) {
	j := newJob(t)
	g := git.New(j.repo).WithIdentity("Ada", "ada@example.test")
	text := "test: {command: sh check.sh}\ndemo: {command: \"cat greeting; grep -q world greeting\"}\n"
	if err := os.WriteFile(filepath.Join(j.repo, ".signalbox.yaml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	gittest.Run(t, g, "commit", "-q", "-a", "-m", "show the greeting")
	out, said, code := j.call("resolve", "--issue", j.file("issue.md", clear), "--brain", `developer=exec:echo hello, world > greeting`)
	if code != 0 || out.PullRequest == nil || out.PullRequest.Evidence == nil || out.PullRequest.Evidence.Demo == nil {
		t.Fatalf("it ended with %d and %+v: %s", code, out.PullRequest, said)
	}
	d := out.PullRequest.Evidence.Demo
	if d.Base.Commit != out.Base || d.Base.Ended != "exit code 1" || d.Base.Output != "hello" || d.Base.Whole == nil ||
		d.Change.Commit != out.Head || d.Change.Ended != "exit code 0" || d.Change.Output != "hello, world" || d.Change.Whole == nil {
		t.Errorf("as JSON it is %+v", d)
	}
	if want := "\n| exit code 1 | exit code 0 |\n| `hello` | `hello, world` |\n"; !strings.Contains(out.PullRequest.Body, want) {
		t.Errorf("no %q in\n%s", want, out.PullRequest.Body)
	}
}

func TestNothingElseCanBeRequired(t *testing.T) {
	j := newJob(t)
	if _, said, code := j.call("resolve", "--issue", j.file("issue.md", clear), "--require", "tested", "--brain", "developer=exec:true"); code != 2 ||
		!strings.Contains(said, "--require") {
		t.Errorf("it ended with %d: %s", code, said)
	}
}
