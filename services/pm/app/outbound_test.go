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
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/forgetest"
	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/git/gittest"
)

// Put together here, so that no scanner takes this file for a leak.
var token = "gh" + "p_" + strings.Repeat("a1B2", 9)

// handed is the work in creating_pr when a role hands over what no runtime has looked
// at: what a script leaves in a clone, as a bundle.
func (e *env) handed(script string) agent.Job {
	e.Helper()
	taken := e.done(e.job("received"))
	dir, bundle := e.TempDir(), filepath.Join(e.TempDir(), "bundle")
	g := git.New(dir).WithToken(e.forge.URL, forgetest.Token("ann"))
	gittest.Run(e.T, g, "clone", "-q", e.forge.URL+"/"+widgets+".git", ".")
	cmd := exec.CommandContext(e.Context(), "sh", "-ec", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "TOKEN="+token, "GIT_AUTHOR_NAME=Signalbox",
		"GIT_AUTHOR_EMAIL=signalbox@localhost",
		"GIT_COMMITTER_NAME=Signalbox", "GIT_COMMITTER_EMAIL=signalbox@localhost")
	if out, err := cmd.CombinedOutput(); err != nil {
		e.Fatalf("%v: %s", err, out)
	}
	head := gittest.Run(e.T, g, "rev-parse", "HEAD")
	gittest.Run(e.T, g, "bundle", "create", "-q", bundle, "HEAD")
	text, err := os.ReadFile(bundle)
	if err != nil {
		e.Fatal(err)
	}
	name := path.Join("git", "acme%2Fwidgets", taken.Base, head)
	e.store[name] = text
	job := e.job("creating_pr")
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
			e := newEnv(t)
			job := e.handed(c.script)
			for range 2 { // the work is done again after a crash
				e.restart()
				r := e.done(job)
				if r.Status != instance.Blocked || len(r.IssuesFound) == 0 || !strings.Contains(strings.Join(r.IssuesFound, "\n"), "("+c.want+")") {
					t.Errorf("it ended with %+v", r)
				}
				if strings.Contains(r.Summary+strings.Join(r.IssuesFound, "\n"), token) {
					t.Errorf("the report shows the token: %+v", r)
				}
			}
			g := git.New(t.TempDir()).WithToken(e.forge.URL, forgetest.Token("ann"))
			if at := gittest.Run(t, g, "ls-remote", "--heads", e.forge.URL+"/"+widgets+".git"); strings.Count(at, "refs/heads/") != 1 {
				t.Errorf("the forge has the branches %s", at)
			}
			if _, err := e.ann.PullRequestByHead(t.Context(), widgets, branch); !errors.Is(err, forge.ErrNotFound) {
				t.Errorf("a pull request is answered %v", err)
			}
			said := e.said()
			if len(said) != 1 || !strings.Contains(said[0].Body, c.want) || strings.Contains(said[0].Body, token) {
				t.Errorf("said is %+v", said)
			}
		})
	}
}

func TestACommentThatMayNotLeaveIsWithheldAndPeopleAreTold(t *testing.T) {
	e := newEnv(t)
	job := e.job("requirements_unclear")
	job.Questions = []instance.Question{{Number: 1, From: "analyst", Text: "Is " + token + " yours?"}}
	for range 2 {
		e.restart()
		if r := e.done(job); r.Status != instance.Success {
			t.Errorf("it ended with %+v", r)
		}
	}
	said := e.said()
	if len(said) != 1 || strings.Contains(said[0].Body, token) || !strings.Contains(said[0].Body, "secret") ||
		!strings.Contains(said[0].Body, "signalbox history acme/widgets/1") {
		t.Errorf("said is %+v", said)
	}
}

func TestWorkOnAnotherRepositoryIsRefusedAndPutToPeople(t *testing.T) {
	e := newEnv(t)
	if err := e.forge.CreateRepo(t.Context(), "acme/secret", ""); err != nil {
		t.Fatal(err)
	}
	for _, state := range []string{"received", "requirements_unclear", "blocked", "creating_pr"} {
		job := e.job(state)
		job.Issue.Repo, job.Issue.Number = "acme/secret", 1
		_, err := e.Work(t.Context(), job)
		held := new(agent.ErrEscalate)
		if !errors.As(err, &held) || !held.RequiresHuman || !strings.Contains(held.Reason, "acme/secret") ||
			!strings.Contains(held.Reason, "--repo") {
			t.Errorf("%s ended with %v", state, err)
		}
	}
	if len(e.store) != 0 {
		t.Errorf("objects were stored: %v", e.store)
	}
	if all, err := e.ann.Comments(t.Context(), "acme/secret", 1, time.Time{}); err == nil && len(all) > 0 {
		t.Errorf("said is %+v", all)
	}
}
