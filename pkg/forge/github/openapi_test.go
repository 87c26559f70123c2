package github_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/localforge"
)

// descriptionVariable names GitHub's OpenAPI description, gzipped JSON:
// https://github.com/github/rest-api-description
const descriptionVariable = "SIGNALBOX_GITHUB_OPENAPI"

// undescribed are requests of the product that the description may not have, with the
// reason.
var undescribed = map[string]string{
	`POST /graphql$`:                       "GraphQL has a schema of its own; graphql_test.go holds queries to it",
	`GET /repos/[^/]+/[^/]+/installation$`: "a part of the description may leave endpoints of Apps out",
	`/app/hook/`:                           "a part of the description may leave endpoints of Apps out",
	` /repositories/\d+`:                   "a redirect leads there; the same below the name is described",
	`/activity$`:                           "a part of the description may leave it out; pkg/localforge holds the answer to its schema",
	`/public_members/[^/]+$`:               "a part of the description may leave it out; it is answered without a body",
}

// mistaken are violations that are the description's, or wanted by a test, with the reason.
var mistaken = map[string]string{
	`/issues/\{issue_number\}/labels 200: request: /: value doesn't match any schema`: "the text of the description permits a list of labels, its schema does not",
	`/pulls/\{pull_number\}/comments 201: request: /(commit_id|path): property`:       "with in_reply_to all but the body is ignored, says the description",
	`/access_tokens 201: request: /: Value is not nullable`:                           "ghinstallation sends null for no options, which GitHub takes",
	`GET /app/installations 200: answer: /N/account: .* "allOf"`:                      "the description wants an account that is a user and an enterprise at once",
	`/rules/branches/\{branch\} 200: .*a_rule_of_tomorrow`:                            "a test makes a rule of a type that GitHub does not have yet",
}

// exchanges is what all tests of the package have requested, and how that was answered.
var exchanges struct {
	sync.Mutex
	seen map[string]exchange // by method, path, status and body
}

type exchange struct {
	request *http.Request
	sent    []byte
	status  int
	header  http.Header
	body    []byte
}

// ours reports whether the product has made the request, and not a test. Only the product
// asks as an App.
func (x exchange) ours() bool {
	return x.request.UserAgent() == "signalbox" || strings.HasPrefix(x.request.URL.Path, "/api/v3/app/")
}

// recorded returns the handler with a record of what it answers, if that is to be judged.
func recorded(h http.Handler) http.Handler {
	if os.Getenv(descriptionVariable) == "" {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(sent))
		asked := r.Clone(context.Background())
		answer := httptest.NewRecorder()
		h.ServeHTTP(answer, r)
		maps.Copy(w.Header(), answer.Header())
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
		exchanges.Lock()
		defer exchanges.Unlock()
		if exchanges.seen == nil {
			exchanges.seen = map[string]exchange{}
		}
		key := fmt.Sprintf("%s %s %d %s", r.Method, r.URL, answer.Code, answer.Body)
		exchanges.seen[key] = exchange{asked, sent, answer.Code, answer.Header().Clone(), answer.Body.Bytes()}
	})
}

// TestMain judges, after all tests, what they have requested and were answered.
func TestMain(m *testing.M) {
	code := m.Run()
	file := os.Getenv(descriptionVariable)
	if file == "" {
		fmt.Println("not held to GitHub's OpenAPI description: " + descriptionVariable + " names no file")
		os.Exit(code)
	}
	if err := judgeExchanges(file); err != nil {
		fmt.Println("FAIL:", err)
		code = 1
	}
	os.Exit(code)
}

// judgeExchanges holds the exchanges to the description in the file, and prints what it
// found.
func judgeExchanges(file string) error {
	doc, err := loadDescription(file)
	if err != nil {
		return err
	}
	tried, statuses, violations, excused := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]int{}
	for _, x := range exchanges.seen {
		path, api := strings.CutPrefix(x.request.URL.EscapedPath(), "/api/v3")
		if !api && !strings.HasSuffix(path, "/graphql") || strings.HasPrefix(string(x.body), "fault injected") {
			continue // of git, or no answer of the forge's
		}
		request := x.request.Method + " " + strings.TrimPrefix(path, "/api")
		route, params := find(doc, x.request.Method, path)
		if route == nil {
			if why := reason(undescribed, request); why != "" {
				excused[why]++
			} else if x.ours() {
				violations[request+": the description has no such operation"] = true
			}
			continue
		}
		operation := x.request.Method + " " + route.Path
		tried[operation] = true
		statuses[fmt.Sprintf("%s %d", operation, x.status)] = true
		for _, wrong := range judge(route, params, x) {
			line := fmt.Sprintf("%s %d: %s", operation, x.status, wrong)
			if why := reason(mistaken, line); why != "" {
				excused[why]++
				continue
			}
			violations[line] = true
		}
	}
	fmt.Printf("GitHub's description: %d operations tried, %d responses (operation and status), %d exchanges, %d violations\n",
		len(tried), len(statuses), len(exchanges.seen), len(violations))
	for _, why := range slices.Sorted(maps.Keys(excused)) {
		fmt.Printf("  allowed %d times: %s\n", excused[why], why)
	}
	for _, line := range slices.Sorted(maps.Keys(violations)) {
		fmt.Println("  violation:", line)
	}
	if len(violations) > 0 {
		return fmt.Errorf("%d answers or requests are not as GitHub describes them", len(violations))
	}
	return nil
}

func loadDescription(file string) (*openapi3.T, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", descriptionVariable, err)
	}
	defer f.Close()
	unpacked, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", descriptionVariable, err)
	}
	text, err := io.ReadAll(unpacked)
	if err != nil {
		return nil, err
	}
	return openapi3.NewLoader().LoadFromData(text)
}

// reason returns why a line is allowed, "" if it is not.
func reason(list map[string]string, line string) string {
	for pattern, why := range list {
		if regexp.MustCompile(pattern).MatchString(line) {
			return why
		}
	}
	return ""
}

var parameter = regexp.MustCompile(`\\\{(\w+)\\\}`)

// find returns the operation of the request. Of several it is the one with the fewest
// parameters, then the longest. A ref, a branch or a path may have slashes.
func find(doc *openapi3.T, method, path string) (*routers.Route, map[string]string) {
	var best *routers.Route
	var params map[string]string
	fewest := 100
	for template, item := range doc.Paths.Map() {
		operation := item.GetOperation(method)
		if operation == nil {
			continue
		}
		pattern := parameter.ReplaceAllStringFunc(regexp.QuoteMeta(template), func(p string) string {
			name := parameter.FindStringSubmatch(p)[1]
			if slices.Contains([]string{"ref", "branch", "path", "basehead", "base", "head"}, name) {
				return "(?P<" + name + ">.+)"
			}
			return "(?P<" + name + ">[^/]+)"
		})
		matcher := regexp.MustCompile("^" + pattern + "$")
		found := matcher.FindStringSubmatch(path)
		if found == nil || len(found) > fewest || len(found) == fewest && len(template) < len(best.Path) {
			continue
		}
		fewest, params = len(found), map[string]string{}
		for i, name := range matcher.SubexpNames()[1:] {
			params[name] = found[i+1]
		}
		best = &routers.Route{Spec: doc, Path: template, PathItem: item, Method: method, Operation: operation}
	}
	return best, params
}

// judge returns what is wrong with a request and its answer.
func judge(route *routers.Route, params map[string]string, x exchange) []string {
	options := &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true,
		AuthenticationFunc: openapi3filter.NoopAuthenticationFunc}
	x.request.Body = io.NopCloser(bytes.NewReader(x.sent))
	in := &openapi3filter.RequestValidationInput{Request: x.request, PathParams: params, Route: route, Options: options}
	var wrong []string
	if x.status < 300 && x.ours() {
		wrong = append(wrong, lines("request", openapi3filter.ValidateRequest(context.Background(), in))...)
	}
	out := &openapi3filter.ResponseValidationInput{RequestValidationInput: in, Status: x.status, Header: x.header, Options: options}
	if x.status >= 400 && route.Operation.Responses.Status(x.status) == nil {
		return append(wrong, basicError(x)...) // any operation may be refused so
	}
	out.SetBodyBytes(x.body)
	return append(wrong, lines("answer", openapi3filter.ValidateResponse(context.Background(), out))...)
}

// basicError holds a refusal that the operation does not list to what all refusals have.
func basicError(x exchange) []string {
	var body struct {
		Message       string
		Documentation string `json:"documentation_url"`
	}
	if err := json.Unmarshal(x.body, &body); err != nil || body.Message == "" || body.Documentation == "" {
		return []string{fmt.Sprintf("answer: it is no error of GitHub's: %.100s", x.body)}
	}
	return nil
}

var listed = regexp.MustCompile(`/\d+(/|$)`)

// lines returns the reasons of an error, a line each.
func lines(of string, err error) []string {
	if err == nil {
		return nil
	}
	var all []string
	switch e := err.(type) {
	case openapi3.MultiError:
		for _, one := range e {
			all = append(all, lines(of, one)...)
		}
		return all
	case *openapi3filter.RequestError:
		if e.Err != nil {
			return lines(of, e.Err)
		}
	case *openapi3filter.ResponseError:
		if e.Err != nil {
			return lines(of, e.Err)
		}
	case *openapi3.SchemaError:
		return []string{of + ": " + listed.ReplaceAllString("/"+strings.Join(e.JSONPointer(), "/"), "/N$1") +
			fmt.Sprintf(": %s (%.200v)", e.Reason, e.Value)}
	}
	return []string{of + ": " + strings.SplitN(err.Error(), "\n", 2)[0]}
}

func TestWhatAnAppAsksIsAnsweredAsDescribed(t *testing.T) {
	private, key := newKey(t)
	w := newEnv(t, func(c *localforge.Config) {
		c.Apps = []localforge.App{{ID: 7, Slug: "box", Key: &private.PublicKey, Permission: "write",
			Installations: []localforge.Installation{{ID: 70, Owner: "acme"}},
			Hook:          localforge.Hook{URL: "https://hooks.example.test/", Active: true, Secret: "s"}}}
		c.Now = nil // a JSON web token has the time of the day
	})
	c, err := github.New(github.Config{BaseURL: w.url, App: github.App{ID: 7, Key: key}})
	must(t, err)
	ctx := t.Context()
	info, err := c.App(ctx)
	if err != nil || info.Slug != "box" {
		t.Errorf("App: %+v, %v", info, err)
	}
	if on, err := c.Installed(ctx, repo); err != nil || on.ID != 70 {
		t.Errorf("installation: %+v, %v", on, err)
	}
	if _, err := c.Account(ctx); err != nil {
		t.Errorf("account: %v", err)
	}
	if s, err := c.RepositoryInfo(ctx, repo); err != nil || s.DefaultBranch != "main" || len(s.Methods) != 3 || s.Limit == 0 {
		t.Errorf("it is %+v, %v", s, err)
	}
	if hook, err := c.Hook(ctx); err != nil || hook.URL == "" {
		t.Errorf("hook: %+v, %v", hook, err)
	}
}

func TestTheJudgeFindsWhatIsPlanted(t *testing.T) {
	doc, err := openapi3.NewLoader().LoadFromData([]byte(`{"openapi": "3.0.3", "info": {"title": "t", "version": "1"}, "paths": {
		"/repos/{owner}/{repo}/git/ref/{ref}": {"post": {
			"requestBody": {"content": {"application/json": {"schema": {"type": "object", "required": ["sha"]}}}},
			"responses": {"200": {"description": "", "content": {"application/json": {"schema":
				{"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}}}}}}}}}}`))
	must(t, err)
	if route, _ := find(doc, "POST", "/repos/o/r"); route != nil {
		t.Errorf("found %+v", route)
	}
	route, params := find(doc, "POST", "/repos/o/r/git/ref/heads/main")
	if route == nil || params["ref"] != "heads/main" {
		t.Fatalf("found %+v %v", route, params)
	}
	for _, c := range []struct {
		sent, body string
		status     int
		wrong      bool
	}{
		{`{"sha": "1"}`, `{"id": 1}`, 200, false},
		{`{}`, `{"id": 1}`, 200, true},
		{`{"sha": "1"}`, `{"id": "1"}`, 200, true},
		{`{"sha": "1"}`, `{}`, 200, true},
		{`{"sha": "1"}`, `{"id": 1}`, 201, true},
		{`{}`, `{"message": "Not Found", "documentation_url": "https://docs"}`, 404, false},
		{`{}`, `{"error": "no"}`, 404, true},
	} {
		r := httptest.NewRequest("POST", "http://forge/api/v3/repos/o/r/git/ref/heads/main", strings.NewReader(c.sent))
		r.Header.Set("User-Agent", "signalbox")
		r.Header.Set("Content-Type", "application/json")
		x := exchange{r, []byte(c.sent), c.status, http.Header{"Content-Type": {"application/json"}}, []byte(c.body)}
		if wrong := judge(route, params, x); (len(wrong) > 0) != c.wrong {
			t.Errorf("%+v: %v", c, wrong)
		}
	}
}
