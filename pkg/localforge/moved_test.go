package localforge_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/git/gittest"
)

func TestARenamedRepositoryIsFoundByItsOldName(t *testing.T) {
	w := newEnv(t)
	ada, work := w.client(t, adaToken), w.clone(t, adaToken)
	newIssue(t, ada, "Kept")
	if resp, body := w.ask(t, "PATCH", "/repos/acme/widgets", adaToken, `{"name":"gadgets"}`); resp.StatusCode != http.StatusOK || !strings.Contains(body, `"full_name":"acme/gadgets"`) {
		t.Fatalf("renamed: %s %s", resp.Status, body)
	}
	noFollow := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for _, tc := range []struct {
		method, path, token string
		status              int
	}{
		{"GET", "/repos/acme/widgets/issues?state=all", adaToken, http.StatusMovedPermanently},
		{"POST", "/repos/acme/widgets/issues", adaToken, http.StatusTemporaryRedirect},
		{"GET", "/repos/acme/widgets", "", http.StatusNotFound},
		{"GET", "/repos/acme/gadgets", adaToken, http.StatusOK},
		{"GET", "/repositories/999", adaToken, http.StatusNotFound},
	} {
		r, err := http.NewRequest(tc.method, w.url+"/api/v3"+tc.path, strings.NewReader(`{"title":"x"}`))
		must(t, err)
		if tc.token != "" {
			r.Header.Set("Authorization", "Bearer "+tc.token)
		}
		resp, err := noFollow.Do(r)
		must(t, err)
		_ = resp.Body.Close()
		if resp.StatusCode != tc.status {
			t.Errorf("%s %s: %s, want %d", tc.method, tc.path, resp.Status, tc.status)
		}
		if to := resp.Header.Get("Location"); tc.status < 400 && tc.status >= 300 && !strings.Contains(to, "/api/v3/repositories/") || strings.Contains(tc.path, "?") && !strings.HasSuffix(to, "/issues?state=all") {
			t.Errorf("%s %s leads to %q", tc.method, tc.path, to)
		}
	}
	StoreXPush(t, work, "topic", "a.txt", "one\n") // by the old name

	must(t, w.Close())
	w.open(t)
	if resp, body := w.ask(t, "GET", "/repos/acme/widgets/branches/topic", adaToken, ""); resp.StatusCode != http.StatusOK {
		t.Errorf("after a restart: %s %s", resp.Status, body)
	}
	if resp, _ := w.ask(t, "PATCH", "/repos/acme/gadgets", adaToken, `{"name":"../x"}`); resp.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("a bad name: %s", resp.Status)
	}

	// A new repository has the name for itself.
	must(t, w.CreateRepo(t.Context(), "acme/widgets", ""))
	if resp, _ := w.ask(t, "GET", "/repos/acme/widgets/branches/topic", adaToken, ""); resp.StatusCode != http.StatusNotFound {
		t.Errorf("the branch in a new repository: %s", resp.Status)
	}
	if resp, _ := w.ask(t, "GET", "/repos/acme/gadgets/branches/topic", adaToken, ""); resp.StatusCode != http.StatusOK {
		t.Errorf("the branch in the renamed one: %s", resp.Status)
	}
	if resp, body := w.ask(t, "PATCH", "/repos/acme/widgets", adaToken, `{"name":"gadgets"}`); resp.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("a name that is taken: %s %s", resp.Status, body)
	}
}

func TestAnArchivedRepositoryIsReadOnly(t *testing.T) {
	w := newEnv(t)
	ada, work := w.client(t, adaToken), w.clone(t, adaToken)
	newIssue(t, ada, "Kept")
	set := func(body string) {
		t.Helper()
		if resp, text := w.ask(t, "PATCH", "/repos/acme/widgets", adaToken, body); resp.StatusCode != http.StatusOK || !strings.Contains(text, strings.Trim(body, "{}")) {
			t.Fatalf("%s: %s", resp.Status, text)
		}
	}
	set(`{"archived":true}`)
	if resp, body := w.ask(t, "POST", "/repos/acme/widgets/issues/1/comments", robToken, `{"body":"x"}`); resp.StatusCode != http.StatusForbidden || !strings.Contains(body, "archived") {
		t.Errorf("a comment: %s %s", resp.Status, body)
	}
	gittest.Run(t, work, "commit", "-q", "--allow-empty", "-m", "Late")
	if _, err := work.Run(t.Context(), "push", "-q", "origin", "HEAD:refs/heads/late"); err == nil {
		t.Error("a push was taken")
	}
	if resp, _ := w.ask(t, "GET", "/repos/acme/widgets/issues/1", robToken, ""); resp.StatusCode != http.StatusOK {
		t.Errorf("reading it: %s", resp.Status)
	}
	set(`{"archived":false}`)
	gittest.Run(t, work, "push", "-q", "origin", "HEAD:refs/heads/late")
}

func TestWhatTheLocalForgeDoesNotDoIsRefusedAndNotIgnored(t *testing.T) {
	const repo = "/repos/acme/widgets"
	w := newEnv(t)
	ada := w.client(t, adaToken)
	newIssue(t, ada, "Kept")
	StoreXPush(t, w.clone(t, adaToken), "topic", "a.txt", "one\n")
	openPull(t, ada, "topic", false)
	for name, c := range map[string]struct{ method, path, body, want string }{
		"another default branch":     {"PATCH", repo, `{"default_branch":"other"}`, "does not change the default branch"},
		"a branch renamed":           {"POST", repo + "/branches/main/rename", `{"new_name":"trunk"}`, "does not rename branches"},
		"a description":              {"PATCH", repo, `{"description":"Widgets"}`, "does not do description"},
		"another visibility":         {"PATCH", repo, `{"name":"widgets","private":false}`, "does not do private"},
		"no issues":                  {"PATCH", repo, `{"has_issues":false}`, "does not do has_issues"},
		"a branch that goes":         {"PATCH", repo, `{"delete_branch_on_merge":true}`, "does not do delete_branch_on_merge"},
		"people of an issue":         {"PATCH", repo + "/issues/1", `{"title":"Renamed","assignees":["rob"]}`, "does not do assignees"},
		"a milestone":                {"PATCH", repo + "/issues/1", `{"milestone":1}`, "does not do milestone"},
		"a type":                     {"PATCH", repo + "/issues/1", `{"type":"Bug"}`, "does not do type"},
		"people of a new issue":      {"POST", repo + "/issues", `{"title":"Another","assignees":["rob"]}`, "does not do assignees"},
		"a pull request of an issue": {"POST", repo + "/pulls", `{"issue":1,"head":"topic","base":"main"}`, "does not do issue"},
		"people of a pull request":   {"PATCH", repo + "/pulls/2", `{"title":"Renamed","assignees":["rob"]}`, "does not do assignees"},
		"a fork's branch":            {"PATCH", repo + "/pulls/2", `{"maintainer_can_modify":true}`, "does not do maintainer_can_modify"},
	} {
		if resp, body := w.ask(t, c.method, c.path, adaToken, c.body); resp.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(body, c.want) {
			t.Errorf("%s: %s %s", name, resp.Status, body)
		}
	}
	for name, path := range map[string]string{"the issue": "/issues/1", "the pull request": "/pulls/2"} {
		if _, body := w.ask(t, "GET", repo+path, adaToken, ""); strings.Contains(body, "Renamed") {
			t.Errorf("a part of a request that was refused is done: %s: %s", name, body)
		}
	}
}

func TestAFieldThatIsSentBackAsItWasReadIsAccepted(t *testing.T) {
	const repo = "/repos/acme/widgets"
	w := newEnv(t)
	newIssue(t, w.client(t, adaToken), "Kept")
	for _, c := range []struct{ path, body string }{
		{repo, `{"description":null,"homepage":"","private":true,"visibility":"private","has_issues":true,"has_wiki":false,"allow_auto_merge":false}`},
		{repo + "/issues/1", `{"title":"Renamed","assignee":null,"assignees":[],"milestone":null,"type":null}`},
		{repo + "/issues/1", `{"title":"Renamed","nothing_of_github":true}`},
	} {
		if resp, body := w.ask(t, "PATCH", c.path, adaToken, c.body); resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %s %s", c.body, resp.Status, body)
		}
	}
}
