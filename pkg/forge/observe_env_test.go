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
	"github.com/signalbox/signalbox/pkg/forge/local"
	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/git/gittest"
	"github.com/signalbox/signalbox/pkg/merge"
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

func newEnv(t *testing.T, change ...func(*local.Config)) *env {
	t.Helper()
	w := &env{t: t}
	w.now.Store(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).Unix())
	config := local.Config{
		Dir: t.TempDir(),
		Now: func() time.Time { return time.Unix(w.now.Add(1), 0) },
		Users: []local.User{
			{Login: "rob[bot]", Token: "rob", Type: "Bot", Permission: "write"},
			{Login: "ada", Token: "ada", Permission: "admin", Organisations: []string{"acme"}},
			{Login: "bob", Token: "bob", Permission: "write", Organisations: []string{"acme"}},
			{Login: "max", Token: "max", Permission: "read"},
		},
	}
	for _, c := range change {
		c(&config)
	}
	f, err := local.Open(config)
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

func (w *env) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// push has somebody write a file on a branch, made from main if it is new.
func (w *env) push(who, branch, file, content string) (sha string) {
	w.t.Helper()
	g := git.New(w.t.TempDir()).WithToken(w.url, who).WithIdentity(who, who+"@example.test")
	gittest.Run(w.t, g, "clone", "-q", w.url+"/"+repo+".git", ".")
	if _, err := g.Run(w.t.Context(), "checkout", "-q", branch); err != nil {
		gittest.Run(w.t, g, "checkout", "-q", "-b", branch)
	}
	w.must(os.WriteFile(filepath.Join(g.Dir(), file), []byte(content), 0o600))
	gittest.Run(w.t, g, "add", ".")
	gittest.Run(w.t, g, "commit", "-q", "-m", "Write "+file)
	gittest.Run(w.t, g, "push", "-q", "origin", branch)
	return gittest.Run(w.t, g, "rev-parse", "HEAD")
}

// do has somebody do what the adapter has no call for.
func (w *env) do(who, method, path, body string) {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), method, w.url+"/repos/"+repo+path, strings.NewReader(body))
	w.must(err)
	r.Header.Set("Authorization", "Bearer "+who)
	resp, err := http.DefaultClient.Do(r)
	w.must(err)
	w.must(resp.Body.Close())
	if resp.StatusCode >= http.StatusMultipleChoices {
		w.t.Fatalf("%s %s: %s", method, path, resp.Status)
	}
}

func (w *env) review(who, event, body string) {
	w.t.Helper()
	w.do(who, "POST", "/pulls/1/reviews", fmt.Sprintf(`{"event":%q,"body":%q}`, event, body))
}

func (w *env) report(context, state string) {
	w.t.Helper()
	w.do("rob", "POST", "/statuses/"+w.head, fmt.Sprintf(`{"context":%q,"state":%q}`, context, state))
}

func (w *env) observation() forge.Observation {
	return forge.Observation{
		Repo: repo, Number: 1, Organisations: []string{"acme"}, Now: func() time.Time { return time.Unix(w.now.Load(), 0) },
	}
}

// observe observes the pull request once, with the acceptance tests passed on its head.
func (w *env) observe() merge.Snapshot {
	w.t.Helper()
	s, err := forge.Observe(w.t.Context(), w.Client, w.observation())
	w.must(err)
	s.Acceptance = merge.Acceptance{Commit: s.Head, Verdict: merge.Pass}
	return s
}

// green makes the pull request ready to be merged.
func (w *env) green() {
	w.t.Helper()
	w.report("ci", "success")
	w.review("ada", "APPROVE", "")
}
