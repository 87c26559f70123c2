package app

import (
	"errors"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/forgetest"
	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/git/gittest"
	"github.com/signalbox/signalbox/pkg/instance"
)

// Put together here, so that no scanner takes this file for a leak.
var token = "gh" + "p_" + strings.Repeat("a1B2", 9)

// handed is the work in creating_pr when a role hands over what no runtime has looked
// at: what a script leaves in a clone, as a bundle.
func (w *env) handed(script string) agent.Job {
	w.Helper()
	taken := w.done(w.job("received"))
	dir, bundle := w.TempDir(), filepath.Join(w.TempDir(), "bundle")
	g := git.New(dir).WithToken(w.forge.URL, forgetest.Token("ann"))
	gittest.Run(w.T, g, "clone", "-q", w.forge.URL+"/"+widgets+".git", ".")
	cmd := exec.CommandContext(w.Context(), "sh", "-ec", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "TOKEN="+token, "GIT_AUTHOR_NAME=Signalbox",
		"GIT_AUTHOR_EMAIL=signalbox@localhost",
		"GIT_COMMITTER_NAME=Signalbox", "GIT_COMMITTER_EMAIL=signalbox@localhost")
	if out, err := cmd.CombinedOutput(); err != nil {
		w.Fatalf("%v: %s", err, out)
	}
	head := gittest.Run(w.T, g, "rev-parse", "HEAD")
	gittest.Run(w.T, g, "bundle", "create", "-q", bundle, "HEAD")
	text, err := os.ReadFile(bundle)
	if err != nil {
		w.Fatal(err)
	}
	name := path.Join("git", "acme%2Fwidgets", taken.Base, head)
	w.store[name] = text
	job := w.job("creating_pr")
	job.Base, job.Head = head, head // a lie: all would be base
	job.Bundles = []instance.Bundle{{Object: taken.Bundle, Head: taken.Base}, {Object: name, Head: head}}
	return job
}

func TestWhatMustNotLeaveIsNotPushedAndPeopleAreTold(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"a workflow file": {"mkdir -p .github/workflows; echo x > .github/workflows/evil.yml; git add -A; git commit -qm x", "forbidden"},
		"a token":         {"echo $TOKEN > key.txt; git add -A; git commit -qm x", "secret"},
		"a token that the last commit removes": {"echo $TOKEN > key.txt; git add -A; git commit -qm x; git rm -q key.txt; git commit -qm y",
			"secret"},
		"a token as a file's name":           {"echo x > $TOKEN; git add -A; git commit -qm x", "secret"},
		"a token in a message":               {"git commit -q --allow-empty -m $TOKEN", "secret"},
		"a link to a file of the host":       {"ln -s /etc/passwd passwd; git add -A; git commit -qm x", "link"},
		"a forged author":                    {"git commit -q --allow-empty -m x --author 'Ann <ann@example.test>'", "identity"},
		"a message that closes and notifies": {"git commit -q --allow-empty -m 'Fixes #1, closes #2 @everyone'", "message"},
		"an orphan history":                  {"git checkout -q --orphan o; git commit -qm o", "history"},
		"a repository within": {"git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub; git commit -qm x",
			"submodule"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			job := w.handed(c.script)
			for range 2 { // the work is done again after a crash
				w.restart()
				r := w.done(job)
				if r.Status != instance.Blocked || len(r.IssuesFound) == 0 || !strings.Contains(strings.Join(r.IssuesFound, "\n"), "("+c.want+")") {
					t.Errorf("it ended with %+v", r)
				}
				if strings.Contains(r.Summary+strings.Join(r.IssuesFound, "\n"), token) {
					t.Errorf("the report shows the token: %+v", r)
				}
			}
			g := git.New(t.TempDir()).WithToken(w.forge.URL, forgetest.Token("ann"))
			if at := gittest.Run(t, g, "ls-remote", "--heads", w.forge.URL+"/"+widgets+".git"); strings.Count(at, "refs/heads/") != 1 {
				t.Errorf("the forge has the branches %s", at)
			}
			if _, err := w.ann.PullRequestByHead(t.Context(), widgets, branch); !errors.Is(err, forge.ErrNotFound) {
				t.Errorf("a pull request is answered %v", err)
			}
			said := w.said()
			if len(said) != 1 || !strings.Contains(said[0].Body, c.want) || strings.Contains(said[0].Body, token) {
				t.Errorf("said is %+v", said)
			}
		})
	}
}

func TestACommentThatMayNotLeaveIsWithheldAndPeopleAreTold(t *testing.T) {
	w := newEnv(t)
	job := w.job("requirements_unclear")
	job.Questions = []instance.Question{{Number: 1, From: "analyst", Text: "Is " + token + " yours?"}}
	for range 2 {
		w.restart()
		if r := w.done(job); r.Status != instance.Success {
			t.Errorf("it ended with %+v", r)
		}
	}
	said := w.said()
	if len(said) != 1 || strings.Contains(said[0].Body, token) || !strings.Contains(said[0].Body, "secret") ||
		!strings.Contains(said[0].Body, "signalbox history acme/widgets/1") {
		t.Errorf("said is %+v", said)
	}
}

func TestWorkOnAnotherRepositoryIsRefusedAndPutToPeople(t *testing.T) {
	w := newEnv(t)
	if err := w.forge.CreateRepo(t.Context(), "acme/secret", ""); err != nil {
		t.Fatal(err)
	}
	for _, state := range []string{"received", "requirements_unclear", "blocked", "creating_pr"} {
		job := w.job(state)
		job.Issue.Repo, job.Issue.Number = "acme/secret", 1
		_, err := w.Work(t.Context(), job)
		held := new(agent.ErrEscalate)
		if !errors.As(err, &held) || !held.RequiresHuman || !strings.Contains(held.Reason, "acme/secret") ||
			!strings.Contains(held.Reason, "--repo") {
			t.Errorf("%s ended with %v", state, err)
		}
	}
	if len(w.store) != 0 {
		t.Errorf("objects were stored: %v", w.store)
	}
	if all, err := w.ann.Comments(t.Context(), "acme/secret", 1, time.Time{}); err == nil && len(all) > 0 {
		t.Errorf("said is %+v", all)
	}
}
