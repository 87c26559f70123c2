package resolve_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/forgetest"
	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/git/gittest"
	"github.com/signalbox/signalbox/pkg/localforge"
	"github.com/signalbox/signalbox/services/signalbox/cli"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

func TestWhereABranchSignalboxIsTheWorkIsDeliveredUnderAnotherNameAndOnce(t *testing.T) {
	j := newJob(t)
	g := git.New(j.repo)
	gittest.Run(t, g, "branch", "signalbox")
	counted := filepath.Join(t.TempDir(), "runs")
	call := func(more ...string) (branch, said string, code int) {
		out, said, code := j.call(append([]string{"resolve", "--issue", j.file("issue.md", clear), "--brain",
			`developer=exec:echo hello, world > greeting; echo run >> ` + counted}, more...)...)
		return out.Branch, said, code
	}
	const want = "signalbox-issue-1-the-greeting-is-too-short"
	branch, said, code := call()
	if code != 0 || branch != want || !strings.Contains(said, "ready: branch signalbox/issue-1") || strings.Contains(said, "pull request is open") {
		t.Fatalf("it ended with %d, branch %q: %s", code, branch, said)
	}
	gittest.Run(t, g, "branch", "-D", want) // as if it had not been delivered
	for range 2 {
		if branch, said, code = call(); code != 0 || branch != want || !strings.Contains(said, "resolved already on "+want+"; --again") {
			t.Fatalf("the next call ended with %d, branch %q: %s", code, branch, said)
		}
	}
	if runs, err := os.ReadFile(counted); err != nil || strings.Count(string(runs), "run") != 1 {
		t.Errorf("the brain ran %q, %v", runs, err)
	}
	if branch, said, code = call("--again"); code != 0 || branch == want || strings.Contains(said, "resolved already") {
		t.Errorf("with --again it ended with %d, branch %q: %s", code, branch, said)
	}
}

func TestAMendedConfigurationCountsInARunThatStartsAgain(t *testing.T) {
	j := newJob(t)
	g := git.New(j.repo).WithIdentity("Ada", "ada@example.test")
	configure := func(text string) {
		if err := os.WriteFile(filepath.Join(j.repo, ".signalbox.yaml"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		gittest.Run(t, g, "commit", "-q", "-a", "-m", "configure")
	}
	resolve := []string{"resolve", "--issue", j.file("issue.md", clear), "--brain", "developer=exec:echo hello, world > greeting"}
	configure("tests: {command: sh check.sh}\n")
	if _, said, code := j.call(resolve...); code != 3 || !strings.Contains(said, `unknown field "tests"`) ||
		!strings.Contains(said, "Without --answers it starts again on the newest commit.") {
		t.Fatalf("it ended with %d: %s", code, said)
	}
	configure("test: {command: sh check.sh}\n")
	if _, said, code := j.call(resolve...); code != 0 || !strings.Contains(said, "starting again: ") {
		t.Errorf("the next call ended with %d: %s", code, said)
	}
}

// A report that was given up in the middle costs nothing more while another is resolved; resolved again, it goes on.
func TestAnotherUnfinishedReportRests(t *testing.T) {
	j := newJob(t)
	fifo := filepath.Join(j.dir, "starts")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	first := j.file("first.md", strings.Replace(clear, "# The greeting is too short", "# The greeting has no world", 1))
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, _ = os.ReadFile(fifo) // blocks until the brain writes
		cancel()
	}()
	var said bytes.Buffer
	code := cli.Run(ctx, term.Env{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: &said, User: "operator:ann", Now: time.Now}, []string{
		"resolve", "--issue", first, "--repo", j.repo, "--data", filepath.Join(j.dir, "data"), "--sandbox", j.sandbox, "--sync", "100ms",
		"--brain", "developer=exec:echo up > " + fifo + "; sleep 600"})
	if code != 1 || !strings.Contains(said.String(), "the same command goes on where it was") {
		t.Fatalf("the interrupted run ended with %d: %s", code, said.String())
	}
	const brain = `developer=exec:echo hello, world > greeting`
	if out, said, code := j.call("resolve", "--issue", j.file("issue.md", clear), "--brain", brain); code != 0 || out.Branch == "" ||
		!strings.Contains(said, `/1, "The greeting has no world", is unfinished and paused`) {
		t.Fatalf("the other report ended with %d, %+v: %s", code, out, said)
	}
	if out, said, code := j.call("resolve", "--issue", first, "--brain", brain); code != 0 || !strings.Contains(said, "going on with "+out.Instance) || !strings.HasSuffix(out.Instance, "/1") {
		t.Errorf("the first report ended with %d: %s", code, said)
	}
}

func TestTheBaseMayNotHaveTheNameThatTheWorkNeeds(t *testing.T) {
	j := newJob(t)
	gittest.Run(t, git.New(j.repo), "checkout", "-q", "-b", "signalbox")
	if _, said, code := j.call("resolve", "--issue", j.file("issue.md", clear), "--brain", `developer=exec:true`); code != 2 ||
		!strings.Contains(said, "branch -m signalbox OTHER") {
		t.Errorf("it ended with %d: %s", code, said)
	}
}

func TestARunThatFailsEndsWithTheCauseTheWorkAndWhatGoesOn(t *testing.T) {
	j := newJob(t)
	out, said, code := j.call("resolve", "--issue", j.file("issue.md", clear), "--brain", `developer=exec:echo wrong > greeting; echo "Greet wrongly"`)
	if code != 1 || out.Branch != "" || out.Unfinished != "signalbox/issue-1-the-greeting-is-too-short-unfinished" {
		t.Fatalf("it ended with %d, %+v: %s", code, out, said)
	}
	for _, want := range []string{"ended with exit code 1", "1:wrong", "\ntried: ", "branch " + out.Unfinished + " is in ", "\n  signalbox explain ", "\n  signalbox diff "} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in %s", want, said)
		}
	}
	g := git.New(j.repo)
	if text := gittest.Run(t, g, "show", out.Unfinished+":greeting"); text != "wrong" {
		t.Errorf("the branch has %q", text)
	}
	if message := gittest.Run(t, g, "log", "-1", "--format=%B", out.Unfinished); !strings.HasPrefix(message, "Unfinished: ") || !strings.Contains(message, "1:wrong") {
		t.Errorf("its last commit says %q", message)
	}
}

func TestAnIssueIsReadFromItsAddress(t *testing.T) {
	j := newJob(t)
	f := forgetest.Start(t, forgetest.Config{Users: []localforge.User{forgetest.User("ann", "write")}})
	c := f.Client("ann")
	made, err := c.CreateIssue(t.Context(), forgetest.Repo, forge.NewIssue{Title: "The greeting is too short", Body: clear + strings.Repeat("a line of a log\n", 1000)})
	if err != nil {
		t.Fatal(err)
	}
	at := f.URL + "/" + forgetest.Repo + "/issues/"
	args := []string{"resolve", "--brain", `developer=exec:echo hello, world > greeting`, "--forge-url", f.URL + "/api/v3/", "--forge-token", forgetest.Token("ann")}
	for address, want := range map[string]string{
		at + "99": "not found",
		at:        "want https://HOST/OWNER/NAME/issues/NUMBER",
		"https://forge.example.test/a/b/issues/1": "give its REST API with --forge-url",
	} {
		if _, said, code := j.call(append(args, "--issue", address)...); code != 2 || !strings.Contains(said, want) {
			t.Errorf("%s ended with %d: %s", address, code, said)
		}
	}
	out, said, code := j.call(append(args, "--issue", made.URL)...)
	if code != 0 || out.Branch == "" || out.PullRequest == nil || !strings.HasPrefix(out.PullRequest.Body, "Closes #") {
		t.Errorf("it ended with %d, %+v: %s", code, out, said)
	}
}

func TestALongReportIsAFileForTheBrain(t *testing.T) {
	j := newJob(t)
	long := clear + "```\n" + strings.Repeat("a line of a log that is long\n", 8000) + "```\n"
	out, said, code := j.call("resolve", "--issue", j.file("issue.md", long), "--brain",
		`developer=exec:test $(wc -c < "$SIGNALBOX_REPORT") -gt 200000 && echo hello, world > greeting`)
	if code != 0 || out.Branch == "" || !strings.Contains(said, "brains are shown its beginning and its end, and get all of it as a file") {
		t.Errorf("it ended with %d, %+v: %s", code, out, said)
	}
}
