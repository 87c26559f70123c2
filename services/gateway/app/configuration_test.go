package app

import (
	"bytes"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/forgetest"
	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/git/gittest"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// commit commits a file of a repository on a branch, and returns the commit. An empty text
// removes it.
func (e *env) commit(repo, branch, name, text string) string {
	e.Helper()
	at, err := url.Parse(e.forge.URL)
	if err != nil {
		e.Fatal(err)
	}
	at.Path, at.User = "/"+repo+".git", url.UserPassword("ann", forgetest.Token("ann"))
	dir := filepath.Join(e.TempDir(), "clone")
	gittest.Run(e.T, git.New(filepath.Dir(dir)), "clone", "-q", at.String(), dir)
	g := git.New(dir)
	if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
		e.Fatal(err)
	}
	if text == "" {
		gittest.Run(e.T, g, "rm", "-q", name)
	} else {
		forgetest.WriteFile(e.T, dir, name, text)
	}
	gittest.Run(e.T, g, "add", "-A")
	gittest.Run(e.T, g, "-c", "user.name=ann", "-c", "user.email=ann@example.com", "commit", "-q", "-m", "Configure")
	gittest.Run(e.T, g, "push", "-q", "origin", "HEAD:refs/heads/"+branch)
	return strings.TrimSpace(gittest.Run(e.T, g, "rev-parse", "HEAD"))
}

// configured is a poller that heeds the configuration of the repository, and reads it
// for each issue.
func (e *env) configured(log *bytes.Buffer) *poller {
	return e.poller(strict, func(p *poller) {
		p.log = slog.New(slog.NewTextHandler(log, nil))
		late := time.Now()
		p.configs = &configurations{forge: e.forge.Client("signalbox"), client: p.client, kv: e.kv, repo: p.repo, workflow: "issue",
			lifecycles: []string{"story"}, log: p.log, now: func() time.Time { late = late.Add(configurationFor); return late }}
	})
}

func (e *env) opened(p *poller, title string, labels ...string) *pb.Instance {
	e.Helper()
	e.second.Add(1)
	number := e.report(e.ann, title, labels...)
	e.poll(p)
	in, err := e.client.Get(e.ctx, Name(widgets, number))
	if err != nil {
		return nil
	}
	return in
}

const config = ".signalbox/config.yaml"

func TestARepositoryConfiguresItsNewIssues(t *testing.T) {
	e := newEnv(t)
	var log bytes.Buffer
	p := e.configured(&log)
	plain := e.opened(p, "Before there is a file")
	if plain.GetIssue().GetConfig() != nil || plain.GetWorkflow() != "issue" {
		t.Fatalf("without a file it is opened as %v", plain)
	}
	commit := e.commit(widgets, forgetest.Trunk, config,
		"policy: {max_iterations: 3, confidence_threshold: 0.1}\nbudget: {usd: 2}\nprotect: [infra/**]\nbrains: [exec:claude]\n")
	in := e.opened(p, "After it")
	if c := in.GetIssue().GetConfig(); c.GetFile() != widgets+":"+config || c.GetCommit() != commit || len(c.GetHash()) != 64 ||
		!slices.Equal(c.GetProtect(), []string{"infra/**"}) || !slices.Equal(c.GetBrains(), []string{"exec:claude"}) {
		t.Errorf("the log has the configuration %v", c)
	}
	def, err := e.client.Definition(e.ctx, in.GetDefinition())
	if err != nil || in.GetDefinition() == plain.GetDefinition() {
		t.Fatalf("it goes by the definition %s, %v", in.GetDefinition(), err)
	}
	for _, want := range []string{"max_iterations: 3", "budget_usd: 2", "confidence_threshold: 0.85"} { // the last is the operator's
		if !strings.Contains(string(def.GetSource()), want) {
			t.Errorf("the definition has no %s", want)
		}
	}

	t.Run("and a file of a branch is none", func(t *testing.T) {
		e.commit(widgets, "mine", config, "lifecycle: story\n")
		if in := e.opened(p, "With a branch"); in.GetWorkflow() != "issue" || in.GetIssue().GetConfig().GetCommit() != commit {
			t.Errorf("it is opened as %v", in)
		}
	})
	t.Run("a wrong one changes nothing, and is told of once", func(t *testing.T) {
		wrong := e.commit(widgets, forgetest.Trunk, config, "polcy: {max_iterations: 9}\n")
		log.Reset()
		first, second := e.opened(p, "The first after"), e.opened(p, "The second after")
		c := first.GetIssue().GetConfig()
		if c.GetCommit() != commit || first.GetDefinition() != in.GetDefinition() {
			t.Errorf("in force is %v", c)
		}
		for _, want := range []string{wrong[:12] + " is wrong", config + `:1: unknown key "polcy"; did you mean "policy"?`, "stays in force"} {
			if !strings.Contains(c.GetProblem(), want) {
				t.Errorf("people are told %q, want %q", c.GetProblem(), want)
			}
		}
		if again := second.GetIssue().GetConfig(); again.GetProblem() != "" || again.GetCommit() != commit {
			t.Errorf("the second has %v", again)
		}
		if n := strings.Count(log.String(), "the configuration of the repository is wrong"); n != 1 {
			t.Errorf("it is logged %d times: %s", n, log.String())
		}
		if late := e.opened(e.configured(&log), "After a restart"); late.GetIssue().GetConfig().GetCommit() != commit ||
			late.GetIssue().GetConfig().GetProblem() != "" {
			t.Errorf("after a restart it is %v", late.GetIssue().GetConfig())
		}
	})
	t.Run("a lifecycle that the operator does not permit is wrong", func(t *testing.T) {
		e.commit(widgets, forgetest.Trunk, config, "lifecycle: task\n")
		if in := e.opened(p, "For a task"); in.GetWorkflow() != "issue" || !strings.Contains(in.GetIssue().GetConfig().GetProblem(), "--repo-workflow") {
			t.Errorf("it is opened as %v", in)
		}
	})
	t.Run("a label is asked for", func(t *testing.T) {
		e.commit(widgets, forgetest.Trunk, config, "label: ai\n")
		if in := e.opened(p, "Without"); in != nil {
			t.Errorf("it is opened as %v", in)
		}
		if in := e.opened(p, "With it", "AI"); in == nil {
			t.Error("it is not opened")
		}
	})
	t.Run("what was taken up goes on as it began", func(t *testing.T) {
		now, err := e.client.Get(e.ctx, in.GetInstance())
		if err != nil || now.GetDefinition() != in.GetDefinition() || now.GetIssue().GetConfig().GetCommit() != commit {
			t.Errorf("it is %v, %v", now.GetIssue(), err)
		}
	})
}

func TestTheOwnersConfigurationStandsInForAMissingOne(t *testing.T) {
	e := newEnv(t)
	from := gittest.Repo(t)
	gittest.Run(t, from, "checkout", "-q", "-b", forgetest.Trunk)
	if err := os.MkdirAll(filepath.Join(from.Dir(), ".signalbox"), 0o755); err != nil {
		t.Fatal(err)
	}
	forgetest.WriteFile(t, from.Dir(), ".signalbox/config.yml", "protect: [shared/**]\n")
	gittest.Run(t, from, "add", "-A")
	gittest.Run(t, from, "commit", "-q", "-m", "first")
	if err := e.forge.CreateRepo(e.ctx, "acme/.github", from.Dir()); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	p := e.configured(&log)
	if c := e.opened(p, "By the owner's").GetIssue().GetConfig(); c.GetFile() != "acme/.github:.signalbox/config.yml" {
		t.Errorf("in force is %v", c)
	}
	e.commit(widgets, forgetest.Trunk, config, "protect: [own/**]\n")
	if c := e.opened(p, "By its own").GetIssue().GetConfig(); !slices.Equal(c.GetProtect(), []string{"own/**"}) {
		t.Errorf("in force is %v", c)
	}
}

// A repository whose first file is wrong wants something that nobody knows.
func TestNothingIsTakenUpWhileTheOnlyFileIsWrong(t *testing.T) {
	e := newEnv(t)
	var log bytes.Buffer
	p := e.configured(&log)
	e.commit(widgets, forgetest.Trunk, config, "labels: [ai]\n")
	if in := e.opened(p, "While it is wrong"); in != nil {
		t.Fatalf("it is opened as %v", in)
	}
	if !strings.Contains(log.String(), `unknown key \"labels\"; did you mean \"label\"?`) {
		t.Errorf("the log is %s", log.String())
	}
	e.commit(widgets, forgetest.Trunk, config, "label: ai\n")
	e.second.Add(1)
	made, err := e.ann.CreateIssue(e.ctx, widgets, forge.NewIssue{Title: "Once it is right", Labels: []string{"ai"}})
	if err != nil {
		t.Fatal(err)
	}
	e.poll(p)
	if _, err := e.client.Get(e.ctx, Name(widgets, made.Number)); err != nil {
		t.Error(err)
	}
}
