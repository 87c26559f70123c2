package local_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-github/v60/github"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/signalbox/signalbox/pkg/forge/local"
	"github.com/signalbox/signalbox/pkg/git"
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

func users() []local.User {
	return []local.User{
		{Login: "ada", Token: adaToken, Permission: "admin"},
		{Login: "rob[bot]", Token: robToken, Type: "Bot", Permission: "write"},
		{Login: "max", Token: maxToken, Permission: "read"},
		{Login: "eve", Token: "eve-token"},
	}
}

// world is a forge with its server and the repository acme/widgets.
type world struct {
	*local.Forge
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

func newWorld(t *testing.T, change ...func(*local.Config)) *world {
	t.Helper()
	w := &world{dir: t.TempDir(), clock: &clock{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}, schemas: loadSchemas(t)}
	w.open(t, change...)
	must(t, w.CreateRepo(t.Context(), full, source(t)))
	return w
}

// open opens the forge in the world's directory and serves it until the test ends.
func (w *world) open(t *testing.T, change ...func(*local.Config)) {
	t.Helper()
	config := local.Config{Dir: w.dir, Users: users(), Now: w.clock.Now}
	for _, c := range change {
		c(&config)
	}
	f, err := local.Open(config)
	must(t, err)
	server := httptest.NewServer(f.Handler())
	f.SetURL(server.URL)
	w.Forge, w.url = f, server.URL
	t.Cleanup(func() {
		server.Close()
		must(t, f.Close())
	})
}

// source is a repository with one commit on main.
func source(t *testing.T) string {
	t.Helper()
	g := git.New(t.TempDir()).WithIdentity("Ada", "ada@example.test")
	run(t, g, "init", "-q")
	write(t, g, "README.md", "# Widgets\n")
	run(t, g, "add", ".")
	run(t, g, "commit", "-q", "-m", "Begin")
	return g.Dir()
}

// clone is a work tree of the repository, signed in with the token.
func (w *world) clone(t *testing.T, token string, args ...string) git.Runner {
	t.Helper()
	g := git.New(t.TempDir()).WithToken(w.url, token).WithIdentity("Ada", "ada@example.test")
	run(t, g, append(append([]string{"clone", "-q"}, args...), w.url+"/"+full+".git", ".")...)
	return g
}

// push commits a file on a branch and pushes it.
func push(t *testing.T, g git.Runner, branch, file, content string) (sha string) {
	t.Helper()
	run(t, g, "checkout", "-q", "-B", branch)
	write(t, g, file, content)
	run(t, g, "add", ".")
	run(t, g, "commit", "-q", "-m", "Write "+file)
	run(t, g, "push", "-q", "origin", branch)
	return run(t, g, "rev-parse", "HEAD")
}

// client is go-github with the token, whose answers are held to GitHub's
// schemas.
func (w *world) client(t *testing.T, token string) *github.Client {
	t.Helper()
	c, err := github.NewClient(&http.Client{Transport: &judge{t: t, schemas: w.schemas}}).WithEnterpriseURLs(w.url, w.url)
	must(t, err)
	if token == "" {
		return c
	}
	return c.WithAuthToken(token)
}

// judge checks every answer against GitHub's description of it.
type judge struct {
	t       *testing.T
	schemas *schemas
}

// judged maps requests to the schema of the answer; "[]" is a list of them.
var judged = []struct {
	request *regexp.Regexp
	schema  string
}{
	{regexp.MustCompile(`^GET /user$`), "public-user"},
	{regexp.MustCompile(`^GET /repos/[^/]+/[^/]+$`), "full-repository"},
	{regexp.MustCompile(`/permission$`), "repository-collaborator-permission"},
	{regexp.MustCompile(`^GET .*/issues$`), "[]issue"},
	{regexp.MustCompile(`^POST .*/issues$|^(GET|PATCH) .*/issues/\d+$`), "issue"},
	{regexp.MustCompile(`^GET .*/comments$`), "[]issue-comment"},
	{regexp.MustCompile(`^POST .*/comments$|^(GET|PATCH) .*/issues/comments/\d+$`), "issue-comment"},
	{regexp.MustCompile(`^(GET|PUT|POST|DELETE) .*/issues/\d+/labels(/.*)?$|^GET .*/labels$`), "[]label"},
	{regexp.MustCompile(`^POST .*/[^/]+/labels$`), "label"},
	{regexp.MustCompile(`^GET .*/pulls$`), "[]pull-request-simple"},
	{regexp.MustCompile(`^POST .*/pulls$|^(GET|PATCH) .*/pulls/\d+$`), "pull-request"},
	{regexp.MustCompile(`^GET .*/commits$`), "[]commit"},
	{regexp.MustCompile(`^GET .*/files$`), "[]diff-entry"},
	{regexp.MustCompile(`^PUT .*/merge$`), "pull-request-merge-result"},
	{regexp.MustCompile(`^GET .*/reviews$`), "[]pull-request-review"},
	{regexp.MustCompile(`/reviews(/\d+(/dismissals)?)?$`), "pull-request-review"},
	{regexp.MustCompile(`^POST .*/statuses/`), "status"},
	{regexp.MustCompile(`/statuses$`), "[]status"},
	{regexp.MustCompile(`/status$`), "combined-commit-status"},
	{regexp.MustCompile(`^(POST|PATCH|GET) .*/[^/]+/check-runs(/\d+)?$`), "check-run"},
	{regexp.MustCompile(`/commits/[0-9a-f]+$`), "commit"},
	{regexp.MustCompile(`/compare/`), "commit-comparison"},
	{regexp.MustCompile(`/branches$`), "[]short-branch"},
	{regexp.MustCompile(`/rules/branches/`), "[]basic-error"}, // there are never any
	{regexp.MustCompile(`/branches/`), "branch-with-protection"},
	{regexp.MustCompile(`/git/refs?(/|$)`), "git-ref"},
	{regexp.MustCompile(`/contents/.*\.md$`), "content-file"},
	{regexp.MustCompile(`/contents/$`), "content-directory"},
}

func (j *judge) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		j.check(r.Method+" "+strings.TrimPrefix(r.URL.Path, "/api/v3"), resp.StatusCode, body)
	}
	return resp, nil
}

func (j *judge) check(request string, status int, body []byte) {
	schema := "basic-error"
	switch {
	case status == http.StatusUnprocessableEntity && bytes.Contains(body, []byte(`"code"`)):
		schema = "validation-error"
	case status < 300:
		schema = ""
		for _, rule := range judged {
			if rule.request.MatchString(request) {
				schema = rule.schema
				break
			}
		}
		if strings.HasSuffix(request, "/check-runs") && bytes.Contains(body, []byte(`"total_count"`)) {
			schema = "" // a list in an object; its members are checked where they are made
			return
		}
	}
	if schema == "" {
		j.t.Errorf("%s: its answer is held to no schema", request)
		return
	}
	resolved, err := j.schemas.find(schema)
	if err != nil {
		j.t.Errorf("schema %s: %v", schema, err)
		return
	}
	var answer any
	if err := json.Unmarshal(body, &answer); err != nil {
		j.t.Errorf("%s: %v", request, err)
		return
	}
	if err := resolved.Validate(answer); err != nil {
		j.t.Errorf("%s: the answer is not GitHub's %s: %v\n%s", request, schema, err, body)
	}
}

// schemas is GitHub's description of its answers.
type schemas struct {
	defs map[string]*jsonschema.Schema

	mu       sync.Mutex
	resolved map[string]*jsonschema.Resolved
}

func loadSchemas(t *testing.T) *schemas {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "github.schema.json"))
	must(t, err)
	var s jsonschema.Schema
	must(t, json.Unmarshal(data, &s))
	return &schemas{defs: s.Defs, resolved: map[string]*jsonschema.Resolved{}}
}

// find is a schema by its name; "[]" before it makes it a list's.
func (s *schemas) find(name string) (*jsonschema.Resolved, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r, ok := s.resolved[name]; ok {
		return r, nil
	}
	element, list := strings.CutPrefix(name, "[]")
	root := &jsonschema.Schema{Ref: "#/$defs/" + element, Defs: s.defs}
	if list {
		root = &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{Ref: "#/$defs/" + element}, Defs: s.defs}
	}
	r, err := root.Resolve(nil)
	s.resolved[name] = r
	return r, err
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func run(t *testing.T, g git.Runner, args ...string) string {
	t.Helper()
	out, err := g.Run(context.WithoutCancel(t.Context()), args...)
	must(t, err)
	return out
}

func write(t *testing.T, g git.Runner, file, content string) {
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
