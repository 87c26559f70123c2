package clis

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/brain/model/modeltest"
	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/git/gittest"
	"github.com/signalbox/signalbox/services/signalbox/resolve"
)

// What a run of an issue may come to: the state that it ends in, or these.
const (
	waits     = "waits for an answer" // exit code 3
	refused   = "refused at the start"
	completed = "completed"
)

// run is a case of an issue that signalbox resolve takes to a branch, with the program as
// its developer: what the developer's model does, and what that comes to.
type run struct {
	name  string
	steps func(dir string) []step
	want  string
	but   map[string]string       // what else it may come to, by program
	check func(o resolved) string // beside the change being right, where it is completed
	gone  bool                    // the program is not installed
}

// resolved is what came of it.
type resolved struct {
	resolve.Outcome
	repo git.Runner
	said string
}

const report = `# The greeting is misspelt

Steps: run "cat greeting.txt". It prints "Helo, world.". Expected: it prints "Hello, world.". The file is greeting.txt.
It is done when the file says "Hello, world.".
`

// repairs are the cases that only a whole run tells.
func repairs() []run {
	const asked = "Is the comma meant to be there?"
	return []run{
		{name: "an issue from end to end", want: completed, steps: fixed(result(nil)), check: resolved.paid},
		{name: "a question, blocked", want: waits, check: asks(asked),
			steps: func(string) []step {
				return []step{result(state{"status": "blocked", "questions": []string{asked}})}
			}},
		{name: "a question, with success", want: waits, check: asks(asked), steps: fixed(result(state{"questions": []string{asked}}))},
		{name: "commits by itself, on a branch, and pushes", want: completed,
			steps: fixed(step{Run: "git checkout -q -b mine && git -c user.name=x -c user.email=x@example.com commit -qam mine; git push origin mine; true"}, result(nil))},
		{name: "amends the commit of others", want: completed,
			steps: fixed(step{Run: "git -c user.name=x -c user.email=x@example.com commit -q -a --amend -m amended; true"}, result(nil))},
		{name: "removes the tests", want: "failed", check: resolved.keepsTests,
			steps: func(dir string) []step {
				return []step{{Run: "cd " + dir + " && git rm -qf check.sh; true"}, {Write: &modeltest.File{Path: dir + "/notes.txt", Text: "done\n"}}, result(nil)}
			}},
		{name: "leaves what tools leave", want: completed, check: resolved.clean,
			steps: func(dir string) []step {
				return append(fix(dir), step{Run: "cd " + dir + " && mkdir -p node_modules/x .claude __pycache__ && echo x | tee node_modules/x/x.js .claude/settings.local.json " +
					".aider.chat.history.md __pycache__/x.pyc >/dev/null; true"}, result(nil))
			}},
		{name: "50 MB as the answer", want: completed, but: map[string]string{"gemini": waits}, steps: fixed(step{Say: strings.Repeat("All of it is done. ", 50<<20/19)})},
		{name: "not installed", want: refused, gone: true, steps: fixed(result(nil)), check: resolved.names},
	}
}

// newRepo returns a repository with a misspelt word, whose test passes on anything.
func newRepo(t *testing.T) git.Runner {
	g := gittest.Repo(t)
	for name, text := range map[string]string{
		".signalbox.yaml": "test: {command: sh check.sh}\n", "check.sh": "true\n", "greeting.txt": "Helo, world.\n",
	} {
		if err := os.WriteFile(filepath.Join(g.Dir(), name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	gittest.Run(t, g, "add", "-A")
	gittest.Run(t, g, "commit", "-q", "-m", "first")
	return g
}

// run has signalbox resolve an issue of a repository of its own.
func (c run) run(t *testing.T, signalbox string, in installed, mode string) sighting {
	script := trial{steps: c.steps}.script()
	model := modeltest.New(t, script)
	g, dir := newRepo(t), t.TempDir()
	issue := filepath.Join(dir, "issue.md")
	if err := os.WriteFile(issue, []byte(report), 0o600); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"resolve", "--json", "--repo", g.Dir(), "--issue", issue, "--data", filepath.Join(dir, "data"), "--sync", "100ms",
		"--brain", "developer=" + in.spec(model.URL, ""), "--brain-wall", "2m", "--brain-idle", "1m",
		"--brain", `tester.creating_tests=exec:sh -c 'echo "grep -qx \"Hello, world[.]\" greeting.txt" > check.sh'`}, in.shared(model.URL, mode)...)
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, signalbox, args...)
	cmd.Env = append(in.environ(model.URL), "XDG_CACHE_HOME="+filepath.Join(dir, "cache"))
	if c.gone {
		cmd.Env = slices.DeleteFunc(cmd.Env, func(pair string) bool { return strings.HasPrefix(pair, "PATH=") })
		cmd.Env = append(cmd.Env, "PATH="+os.Getenv("PATH"))
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	began := time.Now()
	stdout, err := cmd.Output()
	s := sighting{in: in, mode: mode, model: model, took: time.Since(began), detail: last(stderr.String())}
	o := resolved{repo: g, said: stderr.String()}
	var exit *exec.ExitError
	switch decoded := json.Unmarshal(stdout, &o.Outcome); {
	case errors.As(err, &exit) && exit.ExitCode() == 2:
		s.outcome = refused
	case decoded != nil:
		s.outcome = "no outcome"
	case errors.As(err, &exit) && exit.ExitCode() == 3:
		s.outcome = waits
	default:
		s.outcome = o.State
	}
	s.ok = s.outcome == c.want || s.outcome == c.but[in.name]
	for _, check := range []func(resolved) string{resolved.corrected, c.check} {
		if s.ok && check != nil {
			s.note = check(o)
			s.ok = !strings.HasPrefix(s.note, "NOT ")
		}
	}
	if s.note == "" {
		s.note = s.outcome
	}
	if !s.ok {
		s.detail = fmt.Sprintf("%s\n%s", stdout, stderr.String())
	}
	return s
}

// changed returns the files that the branch changes.
func (o resolved) changed() []string {
	text, err := o.repo.Run(context.Background(), "diff", "--name-only", o.Base, o.Head)
	if err != nil {
		return []string{err.Error()}
	}
	return strings.Fields(text)
}

// corrected reports a completed change that is not the right one.
func (o resolved) corrected() string {
	if o.State != completed {
		return ""
	}
	if text, err := o.repo.Run(context.Background(), "show", o.Branch+":greeting.txt"); err != nil || strings.TrimSpace(text) != "Hello, world." {
		return fmt.Sprintf("NOT corrected: %q %v", text, err)
	}
	return ""
}

// paid reports what it cost.
func (o resolved) paid() string {
	if o.Spend.TokensIn == 0 || o.Spend.TokensOut == 0 {
		return "NOT counted"
	}
	return fmt.Sprintf("completed, %d/%d tokens", o.Spend.TokensIn, o.Spend.TokensOut)
}

// asks returns the check that people are asked one question.
func asks(question string) func(resolved) string {
	return func(o resolved) string {
		if !strings.Contains(o.said, question) {
			return "NOT asked"
		}
		return ""
	}
}

// keepsTests reports whether the tester's tests are what they were.
func (o resolved) keepsTests() string {
	if o.Tests == nil || o.Tests.OK {
		return fmt.Sprintf("NOT held against the tests: %+v", o.Tests)
	}
	return ""
}

// clean reports what is in the change and ought not to be.
func (o resolved) clean() string {
	if got := o.changed(); !slices.Equal(got, []string{"check.sh", "greeting.txt"}) {
		return fmt.Sprintf("NOT clean: %q", got)
	}
	return ""
}

// names reports whether it is said what is missing.
func (o resolved) names() string {
	if !strings.Contains(o.said, "PATH") && !strings.Contains(o.said, "install") {
		return "NOT named"
	}
	return ""
}
