package localforge_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

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
	{regexp.MustCompile(`^GET /user$|^GET /users/[^/]+$`), "public-user"},
	{regexp.MustCompile(`^(GET|PATCH) /repos/[^/]+/[^/]+$`), "full-repository"},
	{regexp.MustCompile(`/permission$`), "repository-collaborator-permission"},
	{regexp.MustCompile(`^GET .*/issues$`), "[]issue"},
	{regexp.MustCompile(`^POST .*/issues$|^(GET|PATCH) .*/issues/\d+$`), "issue"},
	{regexp.MustCompile(`^GET .*/pulls/\d+/comments$`), "[]pull-request-review-comment"},
	{regexp.MustCompile(`^POST .*/pulls/\d+/comments(/\d+/replies)?$|^(GET|PATCH) .*/pulls/comments/\d+$`), "pull-request-review-comment"},
	{regexp.MustCompile(`^GET .*/reviews/\d+/comments$`), "[]review-comment"},
	{regexp.MustCompile(`^GET .*/requested_reviewers$`), "pull-request-review-request"},
	{regexp.MustCompile(`/requested_reviewers$`), "pull-request-simple"},
	{regexp.MustCompile(`/activity$`), "[]activity"},
	{regexp.MustCompile(`/rulesets$`), "repository-ruleset"},
	{regexp.MustCompile(`^PUT .*/protection$`), "protected-branch"},
	{regexp.MustCompile(`^GET .*/protection$`), "branch-protection"},
	{regexp.MustCompile(`^GET .*/reactions$`), "[]reaction"},
	{regexp.MustCompile(`^POST .*/reactions$`), "reaction"},
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
	{regexp.MustCompile(`/rules/branches/`), "[]repository-rule-detailed"},
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
		if strings.HasSuffix(request, "/graphql") || strings.HasSuffix(request, "/update-branch") {
			return // held to their schema where they are answered; a message only
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

// loadSchemas returns the schemas, which are read and resolved once for all tests.
func loadSchemas(t *testing.T) *schemas {
	t.Helper()
	s, err := readSchemas()
	must(t, err)
	return s
}

var readSchemas = sync.OnceValues(func() (*schemas, error) {
	data, err := os.ReadFile(filepath.Join("testdata", "github.schema.json"))
	if err != nil {
		return nil, err
	}
	var s jsonschema.Schema
	err = json.Unmarshal(data, &s)
	return &schemas{defs: s.Defs, resolved: map[string]*jsonschema.Resolved{}}, err
})

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
