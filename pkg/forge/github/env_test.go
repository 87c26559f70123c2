package github_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/git/gittest"
	"github.com/signalbox/signalbox/pkg/localforge"
)

const repo = "acme/widgets"

// env is a local forge whose requests are counted.
type env struct {
	url                   string
	requests, notModified atomic.Int64
	now                   atomic.Int64 // seconds; moves by one whenever it is read
}

func newEnv(t *testing.T, change ...func(*localforge.Config)) *env {
	t.Helper()
	w := &env{}
	w.now.Store(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).Unix())
	config := localforge.Config{
		Dir: t.TempDir(),
		Now: func() time.Time { return time.Unix(w.now.Add(1), 0) },
		Users: []localforge.User{
			{Login: "ada", Token: "ada-token", Permission: "admin", Organisations: []string{"acme"}},
			{Login: "rob[bot]", Token: "rob-token", Type: "Bot", Permission: "write"},
			{Login: "ci[bot]", Token: "ci-token", Type: "Bot", Permission: "write"},
			{Login: "max", Token: "max-token", Permission: "read"},
			{Login: "tri", Permission: "triage"},
			{Login: "eve", Token: "eve-token"},
		},
	}
	for _, c := range change {
		c(&config)
	}
	f, err := localforge.Open(config)
	must(t, err)
	handler := recorded(f.Handler())
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.requests.Add(1)
		handler.ServeHTTP(&counting{rw, &w.notModified}, r)
	}))
	w.url = server.URL
	f.SetURL(server.URL)
	t.Cleanup(func() {
		server.Close()
		must(t, f.Close())
	})
	g := gittest.Repo(t)
	gittest.Run(t, g, "commit", "-q", "--allow-empty", "-m", "Begin")
	gittest.Run(t, g, "checkout", "-q", "-b", "fix/it")
	gittest.Run(t, g, "commit", "-q", "--allow-empty", "-m", "Fix")
	gittest.Run(t, g, "checkout", "-q", "main")
	must(t, f.CreateRepo(t.Context(), repo, g.Dir()))
	return w
}

type counting struct {
	http.ResponseWriter
	notModified *atomic.Int64
}

func (c *counting) WriteHeader(status int) {
	if status == http.StatusNotModified {
		c.notModified.Add(1)
	}
	c.ResponseWriter.WriteHeader(status)
}

func (e *env) client(t *testing.T, token string) *github.Client {
	t.Helper()
	c, err := github.New(github.Config{BaseURL: e.url, Token: token})
	must(t, err)
	return c
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// patch changes a repository as an administrator.
func (e *env) patch(t *testing.T, repo, body string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodPatch, e.url+"/api/v3/repos/"+repo, strings.NewReader(body))
	must(t, err)
	r.Header.Set("Authorization", "Bearer ada-token")
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	must(t, err)
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("PATCH %s %s: %s", repo, body, resp.Status)
	}
}
