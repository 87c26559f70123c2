package localforge_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-github/v60/github"

	"github.com/signalbox/signalbox/pkg/localforge"
)

// ask sends a request as it is and returns the answer.
func (e *env) ask(t *testing.T, method, path, token, body string, header ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, e.url+path, strings.NewReader(body))
	must(t, err)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	must(t, err)
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	must(t, err)
	return resp, string(answer)
}

func TestRefusalsHaveGitHubsStatusAndWords(t *testing.T) {
	w := newEnv(t)
	issues := "/api/v3/repos/acme/widgets/issues"
	_, _, err := w.client(t, adaToken).Issues.Create(t.Context(), owner, name, &github.IssueRequest{Title: github.String("x")})
	must(t, err)
	for _, tc := range []struct {
		what                      string
		method, path, token, body string
		status                    int
		message                   string
	}{
		{"an unknown path", "GET", "/api/v3/nothing/here", adaToken, "", 404, "Not Found"},
		{"a path with a method it has not", "DELETE", issues, adaToken, "", 404, "Not Found"},
		{"an unknown repository", "GET", "/api/v3/repos/acme/gadgets", adaToken, "", 404, "Not Found"},
		{"a repository one may not see", "GET", "/api/v3/repos/acme/widgets", "eve-token", "", 404, "Not Found"},
		{"a private repository without a token", "GET", "/api/v3/repos/acme/widgets", "", "", 404, "Not Found"},
		{"a number that is none", "GET", issues + "/one", adaToken, "", 404, "Not Found"},
		{"a wrong token", "GET", issues, "wrong", "", 401, "Bad credentials"},
		{"who one is without a token", "GET", "/api/v3/user", "", "", 401, "Requires authentication"},
		{"a label by who may only read", "POST", issues + "/1/labels", maxToken, `["bug"]`, 403, "Resource not accessible by personal access token"},
		{"an edit by who may only read", "PATCH", issues + "/1", maxToken, `{"title":"y"}`, 403, "Resource not accessible by personal access token"},
		{"a body that is not JSON", "POST", issues, adaToken, `{"title":`, 400, "Problems parsing JSON"},
		{"a field of another type", "POST", issues, adaToken, `{"title":7}`, 422, "Invalid request.\n\nFor \"title\", number is not a string."},
		{"an issue without a title", "POST", issues, adaToken, `{"body":"x"}`, 422, "Validation Failed"},
		{"a comment without a body", "POST", issues + "/1/comments", adaToken, `{}`, 422, "Validation Failed"},
		{"a comment that is too long", "POST", issues + "/1/comments", adaToken, `{"body":"` + strings.Repeat("x", 65537) + `"}`, 422, "Validation Failed"},
		{"a request that is too large", "POST", issues, adaToken, `{"title":"` + strings.Repeat("x", 1<<20) + `"}`, 413, "Request body is too large"},
		{"a state that is none", "PATCH", issues + "/1", adaToken, `{"state":"gone"}`, 422, "Validation Failed"},
		{"a label that is not there", "DELETE", issues + "/1/labels/absent", adaToken, "", 404, "Label does not exist"},
		{"a status of no commit", "POST", "/api/v3/repos/acme/widgets/statuses/" + strings.Repeat("0", 40), adaToken, `{"state":"success"}`, 422,
			"No commit found for SHA: " + strings.Repeat("0", 40)},
		{"a time that is none", "GET", issues + "?since=yesterday", adaToken, "", 422, `since "yesterday" is not a time such as 2006-01-02T15:04:05Z`},
		{"contents above the root", "GET", "/api/v3/repos/acme/widgets/contents/%2e%2e/%2e%2e/journal.jsonl", adaToken, "", 404, "Not Found"},
		{"a commit that is a revision", "GET", "/api/v3/repos/acme/widgets/commits/main~0", adaToken, "", 404, "Not Found"},
	} {
		t.Run(tc.what, func(t *testing.T) {
			resp, body := w.ask(t, tc.method, tc.path, tc.token, tc.body)
			var said struct {
				Message       string
				Documentation string `json:"documentation_url"`
			}
			if err := json.Unmarshal([]byte(body), &said); err != nil {
				t.Fatalf("%d %s: %v", resp.StatusCode, body, err)
			}
			if resp.StatusCode != tc.status || said.Message != tc.message || said.Documentation == "" {
				t.Errorf("answer = %d %s, want %d %q", resp.StatusCode, body, tc.status, tc.message)
			}
		})
	}
}

func TestValidationNamesResourceFieldAndCode(t *testing.T) {
	w := newEnv(t)
	_, _, err := w.client(t, adaToken).Issues.Create(t.Context(), owner, name, &github.IssueRequest{Body: github.String("x")})
	refused, ok := err.(*github.ErrorResponse)
	if !ok || len(refused.Errors) != 1 {
		t.Fatalf("err = %v", err)
	}
	if e := refused.Errors[0]; e.Resource != "Issue" || e.Field != "title" || e.Code != "missing_field" {
		t.Errorf("error = %+v", e)
	}
}

func TestPermissionDecides(t *testing.T) {
	w := newEnv(t)
	ada := w.client(t, adaToken)
	for login, want := range map[string]string{"ada": "admin admin", "rob[bot]": "write write", "max": "read read", "eve": "none none"} {
		level, _, err := ada.Repositories.GetPermissionLevel(t.Context(), owner, name, login)
		must(t, err)
		if got := level.GetPermission() + " " + level.GetUser().GetRoleName(); got != want {
			t.Errorf("%s: %s, want %s", login, got, want)
		}
	}
	_, _, err := ada.Repositories.GetPermissionLevel(t.Context(), owner, name, "nobody")
	if status, _ := refusal(t, err); status != http.StatusNotFound {
		t.Errorf("an unknown user: %v", err)
	}

	max := w.client(t, maxToken)
	issue, _, err := max.Issues.Create(t.Context(), owner, name, &github.IssueRequest{Title: github.String("May I?"), Labels: &[]string{"bug"}})
	must(t, err)
	if len(issue.Labels) != 0 {
		t.Error("who may only read has labelled an issue")
	}
	_, _, err = max.Issues.Edit(t.Context(), owner, name, 1, &github.IssueRequest{State: github.String("closed")})
	must(t, err) // its author may
	_, _, err = max.PullRequests.Merge(t.Context(), owner, name, 1, "", nil)
	if status, _ := refusal(t, err); status != http.StatusForbidden {
		t.Errorf("merging: %v", err)
	}
}

func TestPermissionPerRepository(t *testing.T) {
	w := newEnv(t, func(c *localforge.Config) {
		c.Users = append(c.Users, localforge.User{Login: "tim", Token: "tim-token", Permissions: map[string]string{"Acme/Widgets": "triage"}})
	})
	must(t, w.CreateRepo(t.Context(), "acme/gadgets", ""))
	if resp, body := w.ask(t, "GET", "/repos/acme/widgets", "tim-token", ""); resp.StatusCode != http.StatusOK {
		t.Errorf("widgets: %d %s", resp.StatusCode, body)
	}
	if resp, _ := w.ask(t, "GET", "/repos/acme/gadgets", "tim-token", ""); resp.StatusCode != http.StatusNotFound {
		t.Errorf("gadgets: %d", resp.StatusCode)
	}
}

func TestLockedIssueTakesNoCommentFromReaders(t *testing.T) {
	w := newEnv(t)
	ada, max := w.client(t, adaToken), w.client(t, maxToken)
	_, _, err := ada.Issues.Create(t.Context(), owner, name, &github.IssueRequest{Title: github.String("x")})
	must(t, err)
	_, err = ada.Issues.Lock(t.Context(), owner, name, 1, nil)
	must(t, err)
	_, _, err = max.Issues.CreateComment(t.Context(), owner, name, 1, &github.IssueComment{Body: github.String("x")})
	if status, _ := refusal(t, err); status != http.StatusForbidden {
		t.Errorf("err = %v", err)
	}
	_, _, err = ada.Issues.CreateComment(t.Context(), owner, name, 1, &github.IssueComment{Body: github.String("x")})
	must(t, err)
}

func TestConfigurationIsChecked(t *testing.T) {
	for why, config := range map[string]localforge.Config{
		"login":         {Users: []localforge.User{{Login: "-ada", Token: "x"}}},
		"permission":    {Users: []localforge.User{{Login: "ada", Token: "x", Permission: "owner"}}},
		"the same toke": {Users: []localforge.User{{Login: "ada", Token: "x"}, {Login: "bob", Token: "x"}}},
	} {
		config.Dir = t.TempDir()
		if _, err := localforge.Open(config); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: err = %v", why, err)
		}
	}
}

func TestRepositoryNamesAreChecked(t *testing.T) {
	w := newEnv(t)
	for _, bad := range []string{"", "acme", "acme/", "/x", "acme/..", "../acme/x", "acme/-x", "-acme/x", "acme/x/y", "acme/x.git", "api/x", "acme/a b", "acme/x\n"} {
		if err := w.CreateRepo(t.Context(), bad, ""); err == nil {
			t.Errorf("%q was taken for a name", bad)
		}
	}
}

func TestACheckIsOfAnAppAndChangedByThatAppAlone(t *testing.T) {
	w := newEnv(t, func(c *localforge.Config) {
		c.Users = append(c.Users, localforge.User{Login: "ci[bot]", Token: "ci-token", Type: "Bot", Permission: "write"})
	})
	sha := StoreXPush(t, w.clone(t, robToken), "topic", "a.txt", "a\n")
	runs, run := "/repos/acme/widgets/check-runs", `{"name":"tests","head_sha":"`+sha+`"}`
	resp, body := w.ask(t, "POST", runs, "ci-token", run)
	var made struct{ ID int64 }
	must(t, json.Unmarshal([]byte(body), &made))
	if resp.StatusCode != http.StatusCreated {
		t.Fatalf("%d %s", resp.StatusCode, body)
	}
	one := fmt.Sprintf("%s/%d", runs, made.ID)
	for _, c := range []struct {
		what, method, path, token, body string
		status                          int
		says                            string
	}{
		{"a person makes one", "POST", runs, adaToken, run, 403, "You must authenticate via a GitHub App."},
		{"a person edits one", "PATCH", one, adaToken, `{"conclusion":"success"}`, 403, "You must authenticate via a GitHub App."},
		{"another App edits it", "PATCH", one, robToken, `{"conclusion":"success"}`, 403, "can only be modified by the GitHub App that created it"},
		{"its App edits it", "PATCH", one, "ci-token", `{"conclusion":"success"}`, 200, `"conclusion":"success"`},
		{"a person reads it", "GET", one, adaToken, "", 200, `"conclusion":"success"`},
	} {
		if resp, body := w.ask(t, c.method, c.path, c.token, c.body); resp.StatusCode != c.status || !strings.Contains(body, c.says) {
			t.Errorf("%s: %d %s, want %d %s", c.what, resp.StatusCode, body, c.status, c.says)
		}
	}
}
