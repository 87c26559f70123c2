package forge_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/forge/merge"
	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/git/gittest"
	"github.com/signalbox/signalbox/pkg/localforge"
)

const repo = "acme/widgets"

// env is a forge with one pull request of the robot's, from story/1.
type env struct {
	t    *testing.T
	url  string
	now  atomic.Int64 // seconds; moves by one whenever the forge looks at it
	head string

	*github.Client // as the robot
}

func newEnv(t *testing.T, change ...func(*localforge.Config)) *env {
	t.Helper()
	w := &env{t: t}
	w.now.Store(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).Unix())
	config := localforge.Config{
		Dir: t.TempDir(),
		Now: func() time.Time { return time.Unix(w.now.Add(1), 0) },
		Users: []localforge.User{
			{Login: "rob[bot]", Token: "rob", Type: "Bot", Permission: "write"},
			{Login: "ada", Token: "ada", Permission: "admin", Organisations: []string{"acme"}},
			{Login: "bob", Token: "bob", Permission: "write", Organisations: []string{"acme"}},
			{Login: "max", Token: "max", Permission: "read"},
		},
	}
	for _, c := range change {
		c(&config)
	}
	f, err := localforge.Open(config)
	w.must(err)
	server := httptest.NewServer(f.Handler())
	w.url = server.URL
	f.SetURL(server.URL)
	t.Cleanup(func() {
		server.Close()
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	g := gittest.Repo(t)
	gittest.Run(t, g, "commit", "-q", "--allow-empty", "-m", "Begin")
	w.must(f.CreateRepo(t.Context(), repo, g.Dir()))
	w.Client, err = github.New(github.Config{BaseURL: server.URL, Token: "rob"})
	w.must(err)
	w.head = w.push("rob", "story/1", "a.txt", "one\n")
	_, err = w.CreatePullRequest(t.Context(), repo, forge.NewPullRequest{Title: "Story 1", Head: "story/1", Base: "main"})
	w.must(err)
	return w
}

func (e *env) must(err error) {
	e.t.Helper()
	if err != nil {
		e.t.Fatal(err)
	}
}

// push has a person write a file on a branch, made from main if it is new.
func (e *env) push(who, branch, file, content string) (sha string) {
	e.t.Helper()
	g := git.New(e.t.TempDir()).WithToken(e.url, who).WithIdentity(who, who+"@example.test")
	gittest.Run(e.t, g, "clone", "-q", e.url+"/"+repo+".git", ".")
	if _, err := g.Run(e.t.Context(), "checkout", "-q", branch); err != nil {
		gittest.Run(e.t, g, "checkout", "-q", "-b", branch)
	}
	e.must(os.WriteFile(filepath.Join(g.Dir(), file), []byte(content), 0o600))
	gittest.Run(e.t, g, "add", ".")
	gittest.Run(e.t, g, "commit", "-q", "-m", "Write "+file)
	gittest.Run(e.t, g, "push", "-q", "origin", branch)
	return gittest.Run(e.t, g, "rev-parse", "HEAD")
}

// do has a person do what the adapter has no call for.
func (e *env) do(who, method, path, body string) {
	e.t.Helper()
	r, err := http.NewRequestWithContext(e.t.Context(), method, e.url+"/repos/"+repo+path, strings.NewReader(body))
	e.must(err)
	r.Header.Set("Authorization", "Bearer "+who)
	resp, err := http.DefaultClient.Do(r)
	e.must(err)
	e.must(resp.Body.Close())
	if resp.StatusCode >= http.StatusMultipleChoices {
		e.t.Fatalf("%s %s: %s", method, path, resp.Status)
	}
}

func (e *env) review(who, event, body string) {
	e.t.Helper()
	e.do(who, "POST", "/pulls/1/reviews", fmt.Sprintf(`{"event":%q,"body":%q}`, event, body))
}

func (e *env) report(context, state string) {
	e.t.Helper()
	e.do("rob", "POST", "/statuses/"+e.head, fmt.Sprintf(`{"context":%q,"state":%q}`, context, state))
}

func (e *env) observation() forge.Observation {
	return forge.Observation{
		Repo: repo, Number: 1, Organisations: []string{"acme"}, Now: func() time.Time { return time.Unix(e.now.Load(), 0) },
	}
}

// observe observes the pull request once, with the acceptance tests passed on its head.
func (e *env) observe() merge.Snapshot {
	e.t.Helper()
	s, err := forge.Observe(e.t.Context(), e.Client, e.observation())
	e.must(err)
	s.Acceptance = merge.Acceptance{Commit: s.Head, Verdict: merge.Pass}
	return s
}

// green makes the pull request ready to be merged.
func (e *env) green() {
	e.t.Helper()
	e.report("ci", "success")
	e.review("ada", "APPROVE", "")
}
