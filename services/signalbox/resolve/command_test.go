package resolve_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/document/pipeline"
	"github.com/signalbox/signalbox/pkg/engine/attestation"
	"github.com/signalbox/signalbox/pkg/forge/forgetest"
	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/git/gittest"
	"github.com/signalbox/signalbox/pkg/localforge"
	"github.com/signalbox/signalbox/services/signalbox/cli"
	"github.com/signalbox/signalbox/services/signalbox/resolve"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// job is a step of a CI job over a repository.
type job struct {
	*testing.T
	repo, dir string // dir is the job's workspace
	sandbox   string
}

func newJob(t *testing.T) job {
	t.Helper()
	j := job{t, repository(t), t.TempDir(), "none"}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("GITHUB_WORKSPACE", j.dir)
	t.Setenv("GITHUB_STEP_SUMMARY", filepath.Join(j.dir, "summary.md"))
	return j
}

// file writes a file into the workspace and returns its path.
func (j job) file(name, text string) string {
	j.Helper()
	path := filepath.Join(j.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		j.Fatal(err)
	}
	return path
}

func (j job) read(name string) string {
	j.Helper()
	text, err := os.ReadFile(filepath.Join(j.dir, name))
	if err != nil {
		j.Fatal(err)
	}
	return string(text)
}

// viewed is an issue as gh prints it.
func (j job) viewed(title string) string {
	j.Helper()
	text, err := json.Marshal(map[string]any{
		"number": 42, "title": title, "body": "Please greet.", "labels": []map[string]string{{"name": "bug"}}, "url": "https://github.com/acme/widgets/issues/42",
	})
	if err != nil {
		j.Fatal(err)
	}
	return j.file("issue.json", string(text))
}

// run runs a command line with the foreign agents.
func (j job) run(args ...string) (out resolve.Outcome, stderr string, code int) {
	j.Helper()
	for _, b := range agents(j.T) {
		args = append(args, "--brain", b)
	}
	return j.call(args...)
}

// call runs a command line with --json.
func (j job) call(args ...string) (out resolve.Outcome, stderr string, code int) {
	j.Helper()
	ctx, cancel := context.WithTimeout(j.Context(), 4*time.Minute)
	defer cancel()
	args = append(args, "--json", "--repo", j.repo, "--data", filepath.Join(j.dir, "data"), "--sandbox", j.sandbox, "--sync", "100ms")
	var stdout, told bytes.Buffer
	code = cli.Run(ctx, term.Env{Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &told, User: "operator:ann", Now: time.Now}, args)
	if code != 2 {
		if err := json.Unmarshal(stdout.Bytes(), &out); err != nil {
			j.Fatalf("it printed %q: %v\n%s", stdout.String(), err, told.String())
		}
	}
	return out, told.String(), code
}

// document returns the document that the run wrote to the workspace.
func (j job) document() (d pipeline.Document) {
	j.Helper()
	text := []byte(j.read("issue-state.json"))
	if err := pipeline.Validate(text); err != nil {
		j.Error(err)
	}
	if err := json.Unmarshal(text, &d); err != nil {
		j.Fatal(err)
	}
	return d
}

func TestAPipelineRunInAJobLeavesABranchTheDocumentAndASummary(t *testing.T) {
	j := newJob(t)
	out, said, code := j.run("pipeline", "run", "--issue", j.viewed("straight"))
	if code != 0 || out.State != "completed" || out.Workflow != "pipeline" || out.Branch != "agent/issue-42" || len(out.Commits) != 1 ||
		out.Tests == nil || !out.Tests.OK {
		t.Fatalf("it ended with %d, %+v\n%s", code, out, said)
	}
	d := j.document()
	if d.Pipeline.Status != pipeline.Completed || d.Issue.Number != 42 || d.Issue.URL != "https://github.com/acme/widgets/issues/42" ||
		!strings.HasSuffix(d.Learnings.SessionID, "-issue-42") {
		t.Errorf("the document is %+v", d)
	}
	if said := d.Analysis.TestRequirement.Description; said != "what issue 42 says, https://github.com/acme/widgets/issues/42" {
		t.Errorf("the analyst was shown %q", said)
	}
	// The branch has not been pushed, so there is no pull request outside.
	if c := d.Commit; c.Branch != out.Branch || *c.Hash != out.Head || c.Pushed || c.PRCreated || c.PRURL != nil {
		t.Errorf("the commit is %+v", c)
	}
	g := git.New(j.repo)
	if text, err := g.Run(t.Context(), "show", out.Branch+":greeting"); err != nil || text != "hello, world 1" {
		t.Errorf("the branch has %q, %v", text, err)
	}
	if pr := out.PullRequest; pr == nil || pr.Title != "straight" || !strings.HasPrefix(pr.Body, "Closes #42.\n") ||
		strings.Contains(pr.Body, "<!--") {
		t.Errorf("a pull request would say %+v", pr)
	}
	if status, err := g.Run(t.Context(), "status", "--porcelain"); err != nil || status != "" {
		t.Errorf("the checkout is touched: %q, %v", status, err)
	}
	for _, want := range []string{"## straight", "| lifecycle | pipeline |", "**completed**", "`agent/issue-42`", "`sh check.sh`", "Greets, attempt 1"} {
		if !strings.Contains(j.read("summary.md"), want) {
			t.Errorf("no %q in\n%s", want, j.read("summary.md"))
		}
	}
}

func TestAPipelineRunThatFailsEndsWith1AndItsReason(t *testing.T) {
	j := newJob(t)
	out, said, code := j.run("pipeline", "run", "--issue", j.viewed("triage stops"))
	d := j.document()
	if code != 1 || out.State != "failed" || out.Branch != "" || d.Pipeline.Status != pipeline.Failed ||
		!strings.Contains(d.Pipeline.FailureReason, "it is no report") || !strings.Contains(said, "triage stops it") {
		t.Errorf("it ended with %d, %+v, %+v\n%s", code, out, d.Pipeline, said)
	}
	if !strings.Contains(j.read("summary.md"), "it is no report") {
		t.Errorf("the summary is\n%s", j.read("summary.md"))
	}
}

func TestWhatIsBlockedEndsWith3AndGoesOnWithAnAnswer(t *testing.T) {
	for _, title := range []string{"needs info", "escalation"} {
		t.Run(title, func(t *testing.T) {
			j := newJob(t)
			report := j.file("issue.md", "# "+title+"\n\nPlease greet.\n")
			out, said, code := j.run("resolve", "--workflow", "pipeline", "--issue", report)
			d := j.document()
			if code != 3 || d.Pipeline.Status != pipeline.Blocked || d.Pipeline.BlockedReason == "" || !strings.Contains(said, "--answers") {
				t.Fatalf("it ended with %d, %+v, %+v\n%s", code, out, d.Pipeline, said)
			}
			out, said, code = j.run("resolve", "--workflow", "pipeline", "--issue", report, "--answers",
				j.file("answers.md", "The world, and it may.\n"))
			if code != 0 || out.State != "completed" || j.document().Pipeline.Status != pipeline.Completed {
				t.Errorf("with an answer it ended with %d, %+v\n%s", code, out, said)
			}
		})
	}
}

func TestACallThatIsWrongEndsWith2(t *testing.T) {
	j := newJob(t)
	for want, args := range map[string][]string{
		"not the JSON of an":      {"--issue", j.file("broken.json", "{")},
		"title is missing":        {"--issue", j.file("untitled.json", `{"number": 1, "body": "", "url": "https://h/a/b/issues/1"}`)},
		"no such file":            {"--issue", filepath.Join(j.dir, "none.json")},
		`unknown workflow "pipe"`: {"--issue", j.viewed("x"), "--workflow", "pipe"},
	} {
		_, said, code := j.run(slices.Concat([]string{"pipeline", "run"}, args)...)
		if code != 2 || !strings.Contains(said, want) {
			t.Errorf("%q ended with %d: %s", args, code, said)
		}
	}
}

const clear = `# The greeting is too short

Steps: run "cat greeting". It prints "hello". Expected: it prints "hello, world". The file is greeting.
It is done when the greeting says "hello, world".
`

func TestAnotherLifecycleIsResolvedByTheSameCommand(t *testing.T) {
	j := newJob(t)
	out, said, code := j.call("resolve", "--issue", j.file("issue.md", clear), "--brain", `developer=exec:echo hello, world > greeting`)
	if code != 0 || out.State != "completed" || out.Workflow != "issue" || out.Document != nil ||
		out.Branch != "signalbox/issue-1-the-greeting-is-too-short" || len(out.Commits) != 1 {
		t.Errorf("it ended with %d, %+v\n%s", code, out, said)
	}
	if _, err := os.Stat(filepath.Join(j.dir, "issue-state.json")); !os.IsNotExist(err) {
		t.Errorf("there is a document: %v", err)
	}
	if !strings.Contains(j.read("summary.md"), "| lifecycle | issue |") {
		t.Errorf("the summary is\n%s", j.read("summary.md"))
	}
}

// The program breaks the code and has the tests pass all the same. The tests never count
// as passed: a person decides about the file that is named.
func TestAChangeThatRewritesItsTestsIsNotResolved(t *testing.T) {
	j := newJob(t)
	out, said, code := j.call("resolve", "--issue", j.file("issue.md", clear), "--brain",
		`developer=exec:echo wrong $SIGNALBOX_ATTEMPT $SIGNALBOX_STATE > greeting; echo "exit 0 # $SIGNALBOX_STATE" > check.sh`)
	if code != 3 || out.State != "running_tests" || out.Branch != "" || out.PullRequest != nil || out.Tests != nil && out.Tests.OK ||
		!strings.Contains(said, "The tests pass only with the change to check.sh") || !strings.Contains(said, "sh check.sh fails") {
		t.Errorf("it ended with %d, %+v\n%s", code, out, said)
	}
}

// The repository is not trusted: its configuration may name commands for
// every transport, and would send the push, with its token, elsewhere.
func TestTheConfigurationOfTheRepositoryRunsNothing(t *testing.T) {
	j := newJob(t)
	trap := filepath.Join(t.TempDir(), "sprung")
	script := "#!/bin/sh\nenv > " + trap + "\n"
	program := filepath.Join(t.TempDir(), "trap.sh")
	if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	config := `[core]
	sshCommand = ` + program + `
	fsmonitor = ` + program + `
	gitProxy = ` + program + `
	askPass = ` + program + `
	pager = ` + program + `
	alternateRefsCommand = ` + program + `
	hooksPath = hooks
[url "ssh://elsewhere/"]
	insteadOf = http://127.0.0.1:
[http]
	proxy = http://127.0.0.1:1
[push]
	gpgSign = true
	recurseSubmodules = on-demand
[gpg]
	program = ` + program + `
[log]
	showSignature = true
[uploadpack]
	packObjectsHook = ` + program + `
[credential]
	helper = ` + program + `
`
	path := filepath.Join(j.repo, ".git", "config")
	was, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(was, config...), 0o644); err != nil {
		t.Fatal(err)
	}
	hooks := filepath.Join(j.repo, "hooks")
	if err := os.Mkdir(hooks, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"reference-transaction", "pre-push", "post-checkout"} {
		if err := os.WriteFile(filepath.Join(hooks, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	out, said, code := j.call("resolve", "--issue", j.file("issue.md", clear), "--brain", `developer=exec:echo hello, world > greeting`)
	if code != 0 || out.Branch != "signalbox/issue-1-the-greeting-is-too-short" || len(out.Commits) != 1 {
		t.Errorf("it ended with %d, %+v\n%s", code, out, said)
	}
	if sprung, err := os.ReadFile(trap); err == nil {
		t.Errorf("a command of the repository's configuration ran, with\n%s", sprung)
	}
}

func TestABranchIsPushedAndProposedWhereThatIsAskedFor(t *testing.T) {
	greets := []string{"--brain", `developer=exec:echo hello, world > greeting`}
	resolved := func(j job, more ...string) (resolve.Outcome, string, int) {
		return j.call(slices.Concat([]string{"resolve", "--issue", j.file("issue.md", clear)}, greets, more)...)
	}
	t.Run("to nowhere", func(t *testing.T) {
		if _, said, code := resolved(newJob(t), "--push"); code != 2 || !strings.Contains(said, "git remote add origin URL") {
			t.Errorf("it ended with %d: %s", code, said)
		}
	})
	t.Run("to a path, by the command that is printed", func(t *testing.T) {
		j := newJob(t)
		bare := filepath.Join(t.TempDir(), "widgets.git")
		gittest.Run(t, git.New(""), "init", "-q", "--bare", bare)
		gittest.Run(t, git.New(j.repo), "remote", "add", "origin", bare)
		if _, said, code := resolved(j, "--pr"); code != 2 || !strings.Contains(said, "a pull request needs a repository on a forge") {
			t.Errorf("a pull request there ended with %d: %s", code, said)
		}
		out, said, code := resolved(j)
		_, command, found := strings.Cut(said, "next:\n  ")
		command, _, _ = strings.Cut(command, "\n")
		if code != 0 || !found || out.Pushed != "" || strings.Contains(said, "http://127.0.0.1") {
			t.Fatalf("it ended with %d: %s", code, said)
		}
		if told, err := exec.Command("sh", "-c", command).CombinedOutput(); err != nil {
			t.Fatalf("%s ended with %v: %s", command, err, told)
		}
		if head := gittest.Run(t, git.New(bare), "rev-parse", out.Branch); head != out.Head {
			t.Errorf("it has %s, want %s", head, out.Head)
		}
		_, command, _ = strings.Cut(said, "signalbox verify ")
		command, _, _ = strings.Cut(command, "\n")
		var stdout bytes.Buffer
		env := term.Env{Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stdout, Now: time.Now}
		if code := cli.Run(t.Context(), env, append([]string{"verify"}, strings.Fields(command)...)); code != 0 || !strings.Contains(stdout.String(), out.Head+" is attested") {
			t.Errorf("signalbox verify %s ended with %d: %s", command, code, stdout.String())
		}
	})
	t.Run("to a forge", func(t *testing.T) {
		j := newJob(t)
		f := forgetest.Start(t, forgetest.Config{Users: []localforge.User{forgetest.User("ann", "write")}})
		c := f.Client("ann")
		at, err := c.Repository(t.Context(), forgetest.Repo)
		if err != nil {
			t.Fatal(err)
		}
		g := git.New(j.repo)
		gittest.Run(t, g, "remote", "add", "origin", at.CloneURL)
		gittest.Run(t, g.WithToken(at.CloneURL, forgetest.Token("ann")), "push", "-q", "--force", "origin", "trunk")
		out, said, code := resolved(j, "--pr", "--forge-url", f.URL+"/api/v3/", "--forge-token", forgetest.Token("ann"))
		if code != 0 || out.PullRequest == nil || out.PullRequest.URL == "" || out.Pushed != at.CloneURL {
			t.Fatalf("it ended with %d, %+v: %s", code, out, said)
		}
		pr, err := c.PullRequestByHead(t.Context(), forgetest.Repo, out.Branch)
		if err != nil || pr.URL != out.PullRequest.URL || pr.Body != out.PullRequest.Body {
			t.Errorf("the forge has %+v, %v", pr, err)
		}
		refs := gittest.Run(t, g.WithToken(at.CloneURL, forgetest.Token("ann")), "ls-remote", at.CloneURL, attestation.Refs+"*")
		if !strings.HasSuffix(refs, "/"+out.Head) {
			t.Errorf("the forge has the attestations %q, want that of %s", refs, out.Head)
		}
	})
}
