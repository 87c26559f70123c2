package handin_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/git/gittest"
	"github.com/signalbox/signalbox/services/signalbox/cli"
	"github.com/signalbox/signalbox/services/signalbox/handin"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// Put together here, so that no scanner takes this file for a leak.
var token = "gh" + "p_" + strings.Repeat("a1B2", 9)

// job is what a job left, and the clone that the next one has.
type job struct {
	*testing.T
	forge, clone, left string
}

func newJob(t *testing.T) job {
	t.Helper()
	j := job{t, t.TempDir(), t.TempDir(), t.TempDir()}
	j.sh(j.forge, "git init -q -b main .; echo hello > greeting; git add -A; git commit -qm first")
	gittest.Run(t, git.New(j.clone), "clone", "-q", j.forge, ".")
	return j
}

// sh runs a script as the product, or as who it says.
func (j job) sh(dir, script string) {
	j.Helper()
	cmd := exec.CommandContext(j.Context(), "sh", "-ec", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=Signalbox", "GIT_AUTHOR_EMAIL=signalbox@localhost",
		"GIT_COMMITTER_NAME=Signalbox", "GIT_COMMITTER_EMAIL=signalbox@localhost", "TOKEN="+token, "LEFT="+j.left)
	if out, err := cmd.CombinedOutput(); err != nil {
		j.Fatalf("%v: %s", err, out)
	}
}

// leaves has a brain's job leave a branch, made by a script, and what it says of it.
func (j job) leaves(script, branch, title, body string) {
	j.Helper()
	work := j.TempDir()
	gittest.Run(j.T, git.New(work), "clone", "-q", j.forge, ".")
	j.sh(work, "git checkout -q -b '"+branch+"'; "+script+"; git bundle create -q $LEFT/change.bundle origin/main..'"+branch+"'")
	outcome, err := json.Marshal(map[string]any{"branch": branch, "pull_request": map[string]string{"title": title, "body": body}})
	if err != nil {
		j.Fatal(err)
	}
	j.write("outcome.json", string(outcome))
}

func (j job) write(name, text string) {
	j.Helper()
	if err := os.WriteFile(filepath.Join(j.left, name), []byte(text), 0o600); err != nil {
		j.Fatal(err)
	}
}

func (j job) call(args ...string) (stdout, stderr string, code int) {
	j.Helper()
	var out, told bytes.Buffer
	code = cli.Run(j.Context(), term.Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &told, User: "operator:ann", Now: time.Now}, args)
	return out.String(), told.String(), code
}

func (j job) check() (out handin.Checked, said string, code int) {
	j.Helper()
	stdout, said, code := j.call("pipeline", "check", "--json", "--repo", j.clone, "--from", j.left, "--issue", "1", "--base", "main")
	if code == 0 {
		if err := json.Unmarshal([]byte(stdout), &out); err != nil {
			j.Fatalf("%v in %s", err, stdout)
		}
	} else if stdout != "" {
		j.Errorf("it is refused and prints %s", stdout)
	}
	return out, said, code
}

const change = "echo hi > greeting; git commit -qam Greet"

func TestWhatIsCleanMayBeHandedIn(t *testing.T) {
	j := newJob(t)
	j.leaves(change, "agent/issue-1", "Greet", "Closes #1.\n\nIt greets.")
	out, said, code := j.check()
	if code != 0 || out.Branch != "agent/issue-1" || out.Title != "Greet" || out.Body != "Closes #1.\n\nIt greets." {
		t.Fatalf("it ended with %d, %+v: %s", code, out, said)
	}
	if subject := gittest.Run(t, git.New(j.clone), "log", "-1", "--format=%s", out.Head); subject != "Greet" {
		t.Errorf("the head is %q", subject)
	}
	if branches := gittest.Run(t, git.New(j.clone), "branch", "--list"); branches != "* main" {
		t.Errorf("the clone has %q", branches)
	}
}

func TestWhatAJobLeftIsNotBelieved(t *testing.T) {
	const body = "Closes #1.\n\nIt greets."
	for name, c := range map[string]struct{ script, branch, title, body, says string }{
		"the branch of another issue":       {change, "agent/issue-12", "Greet", body, "the branch of issue 1 is agent/issue-1"},
		"a longer name":                     {change, "agent/issue-1-and-more", "Greet", body, "(branch)"},
		"the default branch":                {change, "main2", "Greet", body, "(branch)"},
		"a workflow file":                   {"mkdir -p .github/workflows; echo x > .github/workflows/x.yml; git add -A; git commit -qm x", "agent/issue-1", "Greet", body, "(forbidden)"},
		"a token":                           {"echo $TOKEN > k; git add -A; git commit -qm x", "agent/issue-1", "Greet", body, "k:1 in commit"},
		"a token that a later commit takes": {"echo $TOKEN > k; git add -A; git commit -qm x; git rm -q k; git commit -qm y", "agent/issue-1", "Greet", body, "(secret)"},
		"a forged author":                   {change + "; git commit -q --amend --no-edit --author 'Ann <ann@example.test>'", "agent/issue-1", "Greet", body, "(identity)"},
		"a subject that closes":             {"git commit -q --allow-empty -m 'Fixes #2'", "agent/issue-1", "Greet", body, "(message)"},
		"a link that leads out":             {"ln -s /etc/passwd p; git add -A; git commit -qm x", "agent/issue-1", "Greet", body, "(link)"},
		"a chain of links":                  {"mkdir d; ln -s .. d/up; ln -s d/up/.. out; git add -A; git commit -qm x", "agent/issue-1", "Greet", body, "(link)"},
		"a mention":                         {change, "agent/issue-1", "Greet", body + " @octocat", "(mention)"},
		"another issue closed":              {change, "agent/issue-1", "Greet", "Closes #2.", "(closes)"},
		"a title that closes":               {change, "agent/issue-1", "Fixes #1", body, "title of the pull request"},
		"a token in the text":               {change, "agent/issue-1", "Greet", body + token, "(secret)"},
		"a marker":                          {change, "agent/issue-1", "Greet", "<!-- signalbox instance=a key=b --> x", "(marker)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := newJob(t)
			j.leaves(c.script, c.branch, c.title, c.body)
			if _, said, code := j.check(); code != 1 || !strings.Contains(said, c.says) || strings.Contains(said, token) {
				t.Errorf("it ended with %d: %s", code, said)
			}
		})
	}
}

func TestFilesThatAreNoneOfTheJobsAreRefused(t *testing.T) {
	for name, spoil := range map[string]func(job){
		"nothing":   func(j job) { _ = os.RemoveAll(j.left) },
		"no bundle": func(j job) { _ = os.Remove(filepath.Join(j.left, "change.bundle")) },
		"a bundle that is a link": func(j job) {
			_ = os.Remove(filepath.Join(j.left, "change.bundle"))
			_ = os.Symlink("/etc/passwd", filepath.Join(j.left, "change.bundle"))
		},
		"an outcome that is a link": func(j job) {
			_ = os.Remove(filepath.Join(j.left, "outcome.json"))
			_ = os.Symlink("/etc/passwd", filepath.Join(j.left, "outcome.json"))
		},
		"an outcome that is long":   func(j job) { j.write("outcome.json", `{"branch":"`+strings.Repeat("x", 5<<20)+`"}`) },
		"an outcome that is none":   func(j job) { j.write("outcome.json", "[") },
		"an outcome without a text": func(j job) { j.write("outcome.json", `{"branch":"agent/issue-1","pull_request":null}`) },
		"a bundle of another branch": func(j job) {
			j.leaves(change, "other", "Greet", "x")
			j.write("outcome.json", `{"branch":"agent/issue-1","pull_request":{"title":"x","body":"x"}}`)
		},
		"a bundle that is none": func(j job) { j.write("change.bundle", "# v2 git bundle\n") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := newJob(t)
			j.leaves(change, "agent/issue-1", "Greet", "It greets.")
			spoil(j)
			if _, said, code := j.check(); code != 1 || strings.Contains(said, "root:") {
				t.Errorf("it ended with %d: %s", code, said)
			}
		})
	}
}

func TestTheReasonIsAQuote(t *testing.T) {
	j := newJob(t)
	for document, want := range map[string]string{
		`{"pipeline":{"status":"blocked","blocked_reason":"Which widget?\r/approve @octocat <b> fixes #2"}}`: "> Which widget?\n> `/approve` @ octocat \\<b> fixes # 2\n",
		`{"pipeline":{"status":"failed"}}`: "> failed\n",
		`[`:                                "> the job left no reason\n",
		`{"pipeline":{"failure_reason":"` + token + `"}}`: "The text with the reason may not leave",
	} {
		j.write("issue-state.json", document)
		out, said, code := j.call("pipeline", "reason", filepath.Join(j.left, "issue-state.json"), "--page", "https://ci.example.test/7")
		if code != 0 || !strings.Contains(out, want) || strings.Contains(out, token) {
			t.Errorf("%s: %d %q %s", document, code, out, said)
		}
	}
}
