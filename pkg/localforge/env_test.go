package localforge_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/git/gittest"
	"github.com/signalbox/signalbox/pkg/localforge"
)

const (
	owner = "acme"
	name  = "widgets"
	full  = owner + "/" + name
)

// The users of every test: ada owns, rob is the robot, max may only read.
const (
	adaToken = "ada-token"
	robToken = "rob-token"
	maxToken = "max-token"
)

func users() []localforge.User {
	return []localforge.User{
		{Login: "ada", Token: adaToken, Permission: "admin"},
		{Login: "rob[bot]", Token: robToken, Type: "Bot", Permission: "write"},
		{Login: "max", Token: maxToken, Permission: "read"},
		{Login: "eve", Token: "eve-token"},
	}
}

// env is a forge with its server and the repository acme/widgets.
type env struct {
	*localforge.Forge
	url     string
	dir     string
	clock   *clock
	schemas *schemas
}

// clock is a time that moves by a second whenever it is read.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(time.Second)
	return c.now
}

func newEnv(t *testing.T, change ...func(*localforge.Config)) *env {
	t.Helper()
	w := &env{dir: t.TempDir(), clock: &clock{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}, schemas: loadSchemas(t)}
	w.open(t, change...)
	must(t, w.CreateRepo(t.Context(), full, source(t)))
	return w
}

// open opens the forge in the directory of the environment and serves it until the test ends.
func (e *env) open(t *testing.T, change ...func(*localforge.Config)) {
	t.Helper()
	config := localforge.Config{Dir: e.dir, Users: users(), Now: e.clock.Now}
	for _, c := range change {
		c(&config)
	}
	f, err := localforge.Open(config)
	must(t, err)
	server := httptest.NewServer(f.Handler())
	f.SetURL(server.URL)
	e.Forge, e.url = f, server.URL
	t.Cleanup(func() {
		server.Close()
		must(t, f.Close())
	})
}

// source is a repository with one commit on main.
func source(t *testing.T) string {
	t.Helper()
	g := gittest.Repo(t)
	StoreXWrite(t, g, "README.md", "# Widgets\n")
	gittest.Run(t, g, "add", ".")
	gittest.Run(t, g, "commit", "-q", "-m", "Begin")
	return g.Dir()
}

// clone is a work tree of the repository, signed in with the token.
func (e *env) clone(t *testing.T, token string, args ...string) git.Runner {
	t.Helper()
	g := git.New(t.TempDir()).WithToken(e.url, token).WithIdentity("Ada", "ada@example.test")
	gittest.Run(t, g, append(append([]string{"clone", "-q"}, args...), e.url+"/"+full+".git", ".")...)
	return g
}

// push commits a file on a branch and pushes it.
func StoreXPush(t *testing.T, g git.Runner, branch, file, content string) (sha string) {
	t.Helper()
	gittest.Run(t, g, "checkout", "-q", "-B", branch)
	StoreXWrite(t, g, file, content)
	gittest.Run(t, g, "add", ".")
	gittest.Run(t, g, "commit", "-q", "-m", "Write "+file)
	gittest.Run(t, g, "push", "-q", "origin", branch)
	return gittest.Run(t, g, "rev-parse", "HEAD")
}

// client is go-github with the token, whose answers are held to GitHub's
// schemas.
func (e *env) client(t *testing.T, token string) *github.Client {
	t.Helper()
	c, err := github.NewClient(&http.Client{Transport: &judge{t: t, schemas: e.schemas}}).WithEnterpriseURLs(e.url, e.url)
	must(t, err)
	if token == "" {
		return c
	}
	return c.WithAuthToken(token)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func StoreXWrite(t *testing.T, g git.Runner, file, content string) {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(g.Dir(), file), []byte(content), 0o600))
}

// refusal is what go-github makes of an answer that refuses.
func refusal(t *testing.T, err error) (status int, message string) {
	t.Helper()
	var refused *github.ErrorResponse
	if !errors.As(err, &refused) {
		t.Fatalf("err = %v, want GitHub's refusal", err)
	}
	return refused.Response.StatusCode, refused.Message
}
