package localforge_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-github/v60/github"

	"github.com/signalbox/signalbox/pkg/git/gittest"
	"github.com/signalbox/signalbox/pkg/localforge"
)

// activity is who moved the branch how, newest first.
func (e *env) activity(t *testing.T, branch string) string {
	t.Helper()
	c := e.client(t, maxToken)
	r, err := c.NewRequest("GET", "repos/acme/widgets/activity?ref=refs/heads/"+branch, nil)
	must(t, err)
	var raw json.RawMessage
	_, err = c.Do(t.Context(), r, &raw)
	must(t, err)
	var rows []struct {
		Kind  string `json:"activity_type"`
		After string
		Actor struct{ Login string }
	}
	must(t, json.Unmarshal(raw, &rows))
	var all []string
	for _, row := range rows {
		all = append(all, row.Actor.Login+" "+row.Kind)
	}
	return strings.Join(all, ", ")
}

func TestWhoMovedABranchIsOnRecord(t *testing.T) {
	w := newEnv(t)
	rob, robs, adas := w.client(t, robToken), w.clone(t, robToken), w.clone(t, adaToken)
	w.propose(t, rob, robs, "topic", "a.txt", "one\n")
	gittest.Run(t, adas, "fetch", "-q", "origin")
	gittest.Run(t, adas, "checkout", "-q", "topic")
	StoreXPush(t, adas, "topic", "b.txt", "two\n")
	gittest.Run(t, robs, "commit", "-q", "--amend", "-m", "Anew")
	if _, err := robs.Run(t.Context(), "push", "-q", "origin", "topic"); err == nil {
		t.Error("a push over another's commit was taken")
	}
	gittest.Run(t, robs, "push", "-q", "--force", "origin", "topic")
	_, _, err := rob.PullRequests.Merge(t.Context(), owner, name, 1, "", nil)
	must(t, err)
	must(t, deleteBranch(t.Context(), rob, "topic"))
	if got := w.activity(t, "topic"); got != "rob[bot] branch_deletion, rob[bot] force_push, ada push, rob[bot] branch_creation" {
		t.Errorf("topic: %s", got)
	}
	if got := w.activity(t, "main"); got != "rob[bot] pr_merge" {
		t.Errorf("main: %s", got)
	}
	must(t, w.Close())
	w.open(t)
	if got := w.activity(t, "main"); got != "rob[bot] pr_merge" {
		t.Errorf("main after a restart: %s", got)
	}
}

func TestPushOfSeveralBranchesIsOnRecordWhole(t *testing.T) {
	w := newEnv(t)
	work := w.clone(t, adaToken)
	gittest.Run(t, work, "push", "-q", "origin", "main:one", "main:two", "main:refs/tags/v1")
	if one, two := w.activity(t, "one"), w.activity(t, "two"); one != "ada branch_creation" || two != one {
		t.Errorf("one: %s; two: %s", one, two)
	}
}

func TestMembersAreToldToMembers(t *testing.T) {
	w := newEnv(t, func(c *localforge.Config) {
		c.Users = append(c.Users, localforge.User{Login: "tim", Token: "tim-token", Organisations: []string{"Acme"}})
	})
	for _, tc := range []struct {
		token, path string
		status      int
	}{
		{"tim-token", "/orgs/acme/members/tim", http.StatusNoContent},
		{"tim-token", "/orgs/acme/members/ada", http.StatusNotFound},
		{robToken, "/orgs/acme/members/tim", http.StatusNoContent},
		{robToken, "/orgs/other/members/tim", http.StatusNotFound},
		{adaToken, "/orgs/acme/members/tim", http.StatusNotFound}, // sent on to the public ones
	} {
		resp, _ := w.ask(t, "GET", tc.path, tc.token, "")
		if resp.StatusCode != tc.status {
			t.Errorf("%s asks %s: %d, want %d", tc.token, tc.path, resp.StatusCode, tc.status)
		}
		if sent := strings.Contains(resp.Request.URL.Path, "public_members"); sent != (tc.token == adaToken) {
			t.Errorf("%s ends at %s", tc.token, resp.Request.URL.Path)
		}
	}
}

func TestCheckOfABotIsItsApps(t *testing.T) {
	w := newEnv(t)
	rob, work := w.client(t, robToken), w.clone(t, robToken)
	head := StoreXPush(t, work, "topic", "a.txt", "one\n")
	made, _, err := rob.Checks.CreateCheckRun(t.Context(), owner, name, github.CreateCheckRunOptions{Name: "test", HeadSHA: head})
	must(t, err)
	if made.GetApp().GetID() == 0 || made.GetApp().GetSlug() != "rob" {
		t.Errorf("app = %v", made.GetApp())
	}
}

func TestAMoveIsOnRecordAlthoughItsClientLeft(t *testing.T) {
	w := newEnv(t)
	work := w.clone(t, robToken)
	gone := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		ctx, leave := context.WithCancel(r.Context())
		defer leave()
		if r.Method == http.MethodPost {
			rw = &leaving{rw, leave}
		}
		w.Handler().ServeHTTP(rw, r.WithContext(ctx))
	}))
	defer gone.Close()
	gittest.Run(t, work, "commit", "-q", "--allow-empty", "-m", "Move")
	_, _ = work.WithToken(gone.URL, robToken).Run(t.Context(), "push", "-q", gone.URL+"/"+full+".git", "HEAD:refs/heads/topic") // it may not hear how it went
	if got := w.activity(t, "topic"); got != "rob[bot] branch_creation" {
		t.Errorf("topic: %s", got)
	}
}

// leaving is an answer whose client leaves when it begins.
type leaving struct {
	http.ResponseWriter
	leave func()
}

func (l *leaving) Write(p []byte) (int, error) {
	l.leave()
	return l.ResponseWriter.Write(p)
}
