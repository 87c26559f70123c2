package localforge_test

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/signalbox/signalbox/pkg/localforge"
)

const hookSecret = "s3cret"

// receiver is a server that takes deliveries.
type receiver struct {
	*httptest.Server
	t       *testing.T
	got     chan delivered
	status  atomic.Int64
	schemas *schemas
}

// delivered is a delivery that arrived.
type delivered struct {
	event, action, id string
	header            http.Header
	body              map[string]any
}

func (d delivered) String() string { return strings.TrimSpace(d.event + " " + d.action) }

func newReceiver(t *testing.T, s *schemas) *receiver {
	r := &receiver{t: t, got: make(chan delivered, 1000), schemas: s}
	r.status.Store(http.StatusAccepted)
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, err := io.ReadAll(q.Body)
		if err != nil {
			// The forge stopped while it sent: nothing arrived, and a test that waits for it fails.
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		mac := hmac.New(sha256.New, []byte(hookSecret))
		mac.Write(body)
		d := delivered{event: q.Header.Get("X-GitHub-Event"), id: q.Header.Get("X-GitHub-Delivery"), header: q.Header}
		if err := json.Unmarshal(body, &d.body); err != nil {
			t.Errorf("%s: %v", d.event, err)
		}
		d.action, _ = d.body["action"].(string)
		if want := "sha256=" + hex.EncodeToString(mac.Sum(nil)); q.Header.Get("X-Hub-Signature-256") != want || q.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: it is not signed: %v", d, q.Header)
		}
		r.judge(d)
		w.WriteHeader(int(r.status.Load()))
		r.got <- d
	}))
	t.Cleanup(r.Close)
	return r
}

// parts are the schemas of the parts of payloads that are as REST has them.
var parts = map[string]string{"issue": "issue", "pull_request": "pull-request-simple", "comment": "", "check_run": "check-run"}

// judge holds the parts of a payload to GitHub's description of them.
func (r *receiver) judge(d delivered) {
	for part, schema := range parts {
		if part == "comment" {
			schema = map[string]string{"issue_comment": "issue-comment", "pull_request_review_comment": "pull-request-review-comment"}[d.event]
		}
		value, ok := d.body[part]
		if !ok {
			continue
		}
		resolved, err := r.schemas.find(schema)
		if err == nil {
			err = resolved.Validate(value)
		}
		if err != nil {
			r.t.Errorf("%s: its %s is not as GitHub describes it: %v", d, part, err)
		}
	}
	sender, _ := d.body["sender"].(map[string]any)
	if sender["login"] == "" || sender["login"] == nil {
		r.t.Errorf("%s: nobody sent it", d)
	}
}

// next waits for n deliveries and returns them by event and action.
func (r *receiver) next(n int) (all []delivered) {
	r.t.Helper()
	for len(all) < n {
		select {
		case d := <-r.got:
			all = append(all, d)
		case <-r.t.Context().Done():
			r.t.Fatalf("only %v arrived", all)
		}
	}
	return all
}

// want waits for as many deliveries as are named, and holds them to the names.
func (r *receiver) want(what string, names ...string) []delivered {
	r.t.Helper()
	all := r.next(len(names))
	if got := fmt.Sprint(all); got != fmt.Sprint(names) {
		r.t.Errorf("%s: delivered were %s, want %s", what, got, names)
	}
	return all
}

// hooked is an environment whose repository has a webhook of all events.
func hooked(t *testing.T, change ...func(*localforge.Config)) (*env, *receiver) {
	t.Helper()
	w := newEnv(t, change...)
	r := newReceiver(t, w.schemas)
	resp, body := w.ask(t, "POST", "/repos/acme/widgets/hooks", adaToken,
		fmt.Sprintf(`{"events": ["*"], "config": {"url": %q, "secret": %q, "content_type": "json"}}`, r.URL, hookSecret))
	if resp.StatusCode != http.StatusCreated {
		t.Fatalf("%d %s", resp.StatusCode, body)
	}
	w.held(t, "hook", body)
	r.want("the webhook", "ping")
	return w, r
}

// held holds an answer to GitHub's description.
func (e *env) held(t *testing.T, schema, body string) {
	t.Helper()
	var value any
	must(t, json.Unmarshal([]byte(body), &value))
	resolved, err := e.schemas.find(schema)
	must(t, err)
	if err := resolved.Validate(value); err != nil {
		t.Errorf("it is no %s: %v\n%s", schema, err, body)
	}
}

func TestAWebhookIsToldOfEveryChange(t *testing.T) {
	w, r := hooked(t)
	ctx := t.Context()
	ada, rob := w.client(t, adaToken), w.client(t, robToken)
	_, _, err := rob.Issues.Create(ctx, owner, name, &github.IssueRequest{Title: github.String("x"), Labels: &[]string{"bug"}})
	must(t, err)
	opened := r.want("an issue", "issues opened", "issues labeled")[0]
	if h := opened.header; h.Get("X-GitHub-Hook-ID") == "" || h.Get("X-GitHub-Hook-Installation-Target-Type") != "repository" || len(opened.id) != 36 {
		t.Errorf("its header is %v", h)
	}
	if opened.body["repository"].(map[string]any)["full_name"] != full || opened.body["sender"].(map[string]any)["login"] != "rob[bot]" {
		t.Errorf("it is %v", opened.body)
	}
	m, _, err := ada.Issues.CreateComment(ctx, owner, name, 1, &github.IssueComment{Body: github.String("one")})
	must(t, err)
	_, _, err = ada.Issues.EditComment(ctx, owner, name, m.GetID(), &github.IssueComment{Body: github.String("two")})
	must(t, err)
	_, err = ada.Issues.DeleteComment(ctx, owner, name, m.GetID())
	must(t, err)
	r.want("a comment", "issue_comment created", "issue_comment edited", "issue_comment deleted")
	_, _, err = ada.Issues.Edit(ctx, owner, name, 1, &github.IssueRequest{Title: github.String("y"), State: github.String("closed"), Labels: &[]string{}})
	must(t, err)
	r.want("an edit", "issues edited", "issues unlabeled", "issues closed")
	_, _, err = ada.Issues.Edit(ctx, owner, name, 1, &github.IssueRequest{State: github.String("open")})
	must(t, err)
	r.want("another", "issues reopened")

	work := w.clone(t, robToken)
	StoreXPush(t, work, "topic", "a.txt", "a\n")
	r.want("a branch", "push", "create")
	pr, _, err := rob.PullRequests.Create(ctx, owner, name,
		&github.NewPullRequest{Title: github.String("x"), Head: github.String("topic"), Base: github.String("main"), Draft: github.Bool(true)})
	must(t, err)
	r.want("a pull request", "pull_request opened")
	sha := StoreXPush(t, work, "topic", "b.txt", "b\n")
	moved := r.want("a push", "push", "pull_request synchronize")
	if moved[1].body["before"] != pr.GetHead().GetSHA() || moved[1].body["after"] != sha || len(moved[0].body["commits"].([]any)) != 1 {
		t.Errorf("it moved %v", moved[1].body["after"])
	}
	w.graphql(t, robToken, `mutation($id: ID!) { markPullRequestReadyForReview(input: {pullRequestId: $id}) { clientMutationId } }`, pr.GetNodeID())
	r.want("ready", "pull_request ready_for_review")
	_, _, err = rob.PullRequests.RequestReviewers(ctx, owner, name, 2, github.ReviewersRequest{Reviewers: []string{"ada"}})
	must(t, err)
	r.want("a request", "pull_request review_requested")
	_, _, err = rob.Repositories.CreateStatus(ctx, owner, name, sha, &github.RepoStatus{State: github.String("success")})
	must(t, err)
	r.want("a status", "status")
	run, _, err := rob.Checks.CreateCheckRun(ctx, owner, name, github.CreateCheckRunOptions{Name: "tests", HeadSHA: sha})
	must(t, err)
	_, _, err = rob.Checks.UpdateCheckRun(ctx, owner, name, run.GetID(), github.UpdateCheckRunOptions{Name: "tests", Conclusion: github.String("success")})
	must(t, err)
	checks := r.want("a check", "check_run created", "check_run completed", "check_suite completed")
	for i, part := range []string{"check_run", "check_run", "check_suite"} {
		if of := checks[i].body[part].(map[string]any)["pull_requests"].([]any); len(of) != 1 || of[0].(map[string]any)["number"] != 2.0 {
			t.Errorf("%s is of %v", checks[i], of)
		}
	}
	_, _, err = ada.PullRequests.CreateComment(ctx, owner, name, 2,
		&github.PullRequestComment{Body: github.String("why?"), Path: github.String("a.txt"), Line: github.Int(1), CommitID: &sha})
	must(t, err)
	r.want("a comment on a line", "pull_request_review submitted", "pull_request_review_comment created")
	w.resolve(t, 2)
	r.want("resolved", "pull_request_review_thread resolved")
	_, _, err = ada.PullRequests.CreateReview(ctx, owner, name, 2, &github.PullRequestReviewRequest{Event: github.String("APPROVE")})
	must(t, err)
	if approved := r.want("a review", "pull_request_review submitted")[0]; approved.body["review"].(map[string]any)["state"] != "approved" {
		t.Errorf("it is %v", approved.body["review"])
	}
	_, _, err = ada.PullRequests.Merge(ctx, owner, name, 2, "", nil)
	must(t, err)
	merged := r.want("a merge", "push", "pull_request closed")[1]
	if merged.body["pull_request"].(map[string]any)["merged"] != true {
		t.Errorf("it is not merged: %v", merged.body)
	}
}

func TestAWebhookIsToldOfARepositoryThatIsRenamedAndArchived(t *testing.T) {
	w, r := hooked(t)
	must(t, w.RenameRepo(full, "acme/gadgets"))
	renamed := r.want("a new name", "repository renamed")[0]
	if renamed.body["repository"].(map[string]any)["full_name"] != "acme/gadgets" || !strings.Contains(fmt.Sprint(renamed.body["changes"]), "from:widgets") {
		t.Errorf("it is %v", renamed.body["changes"])
	}
	must(t, w.ArchiveRepo("acme/gadgets", true))
	must(t, w.ArchiveRepo("acme/gadgets", false))
	r.want("the archive", "repository archived", "repository unarchived")
}

func TestADeliveryThatFailedIsListedAndIsDeliveredAgainOnlyWhenAsked(t *testing.T) {
	w, r := hooked(t)
	hooks := "/repos/acme/widgets/hooks"
	r.status.Store(http.StatusServiceUnavailable)
	_, _, err := w.client(t, adaToken).Issues.Create(t.Context(), owner, name, &github.IssueRequest{Title: github.String("x")})
	must(t, err)
	failed := r.want("an issue", "issues opened")[0]
	r.status.Store(http.StatusOK)
	_, _, err = w.client(t, adaToken).Issues.Create(t.Context(), owner, name, &github.IssueRequest{Title: github.String("y")})
	must(t, err)
	r.want("another", "issues opened") // and the first one not again
	type row struct {
		ID         int64
		GUID       string
		StatusCode int `json:"status_code"`
		Redelivery bool
	}
	var id struct{ ID int64 }
	_, body := w.ask(t, "GET", hooks, adaToken, "")
	must(t, json.Unmarshal([]byte(strings.Trim(body, "[]")), &id))
	hook := fmt.Sprintf("%s/%d", hooks, id.ID)
	list := func(query string) (rows []row) {
		_, body := w.ask(t, "GET", hook+"/deliveries"+query, adaToken, "")
		w.held(t, "[]hook-delivery-item", body)
		must(t, json.Unmarshal([]byte(body), &rows))
		return rows
	}
	rows := list("")
	at := slices.IndexFunc(rows, func(d row) bool { return d.GUID == failed.id })
	if at < 0 || rows[at].StatusCode != http.StatusServiceUnavailable || rows[at].Redelivery {
		t.Fatalf("listed are %+v", rows)
	}
	if page := list(fmt.Sprintf("?per_page=1&cursor=%d", rows[at].ID)); len(page) != 1 || page[0].ID >= rows[at].ID {
		t.Errorf("the page after it is %+v", page)
	}
	one := fmt.Sprintf("%s/deliveries/%d", hook, rows[at].ID)
	_, body = w.ask(t, "GET", one, adaToken, "")
	w.held(t, "hook-delivery", body)
	if !strings.Contains(body, `"X-GitHub-Event":"issues"`) || !strings.Contains(body, `"action":"opened"`) {
		t.Errorf("it is %s", body)
	}
	if resp, body := w.ask(t, "POST", one+"/attempts", adaToken, ""); resp.StatusCode != http.StatusAccepted {
		t.Fatalf("%d %s", resp.StatusCode, body)
	}
	if again := r.want("again", "issues opened")[0]; again.id != failed.id {
		t.Errorf("it has another id: %s, not %s", again.id, failed.id)
	}
	for path, want := range map[string]int{hook + "/deliveries/1": 404, hooks + "/1/deliveries": 404, hook: 200} {
		if resp, _ := w.ask(t, "GET", path, adaToken, ""); resp.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, resp.StatusCode, want)
		}
	}
	if resp, _ := w.ask(t, "GET", hook, robToken, ""); resp.StatusCode != http.StatusForbidden {
		t.Errorf("who may only write sees it: %d", resp.StatusCode)
	}
	if resp, _ := w.ask(t, "DELETE", hook, adaToken, ""); resp.StatusCode != http.StatusNoContent {
		t.Errorf("it is not deleted: %d", resp.StatusCode)
	}
}

func TestDeliveriesAreLostDoubledAndOutOfOrderByRule(t *testing.T) {
	faults := map[string]*localforge.DeliveryFault{"b": {Drop: true}, "c": {Twice: true}, "d": {Behind: 1}}
	w, r := hooked(t, func(c *localforge.Config) {
		c.Delivery = func(m localforge.Delivery) *localforge.DeliveryFault {
			var of struct{ Issue struct{ Title string } }
			must(t, json.Unmarshal(m.Payload, &of))
			return faults[of.Issue.Title]
		}
	})
	for _, title := range strings.Fields("a b c d e") {
		_, _, err := w.client(t, adaToken).Issues.Create(t.Context(), owner, name, &github.IssueRequest{Title: github.String(title)})
		must(t, err)
	}
	var titles []string
	var ids []string
	for _, d := range r.next(5) {
		titles = append(titles, d.body["issue"].(map[string]any)["title"].(string))
		ids = append(ids, d.id)
	}
	if got := strings.Join(titles, " "); got != "a c c e d" || ids[1] != ids[2] {
		t.Errorf("delivered were %s, with the ids %v", got, ids)
	}
}

func TestAnAppIsToldOfWhatItSubscribesTo(t *testing.T) {
	app := localforge.App{ID: 7, Slug: "box", Permission: "write", Events: []string{"issue_comment"}, Installations: []localforge.Installation{{ID: 70, Owner: owner}}}
	w := newEnv(t)
	r := newReceiver(t, w.schemas)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	must(t, err)
	app.Key, app.Hook = &key.PublicKey, localforge.Hook{URL: r.URL, Active: true, Secret: hookSecret}
	w.dir = t.TempDir()
	w.open(t, func(c *localforge.Config) { c.Apps = []localforge.App{app} })
	must(t, w.CreateRepo(t.Context(), full, source(t)))
	must(t, w.CreateRepo(t.Context(), "other/things", source(t)))
	for _, at := range []string{"other/things", full} {
		on, to, _ := strings.Cut(at, "/")
		_, _, err := w.client(t, adaToken).Issues.Create(t.Context(), on, to, &github.IssueRequest{Title: github.String("x")})
		must(t, err)
		_, _, err = w.client(t, adaToken).Issues.CreateComment(t.Context(), on, to, 1, &github.IssueComment{Body: github.String(at)})
		must(t, err)
	}
	d := r.want("of the one where it is installed", "issue_comment created")[0]
	installation, _ := d.body["installation"].(map[string]any)
	if d.body["comment"].(map[string]any)["body"] != full || installation["id"] != 70.0 || d.header.Get("X-GitHub-Hook-Installation-Target-Type") != "integration" {
		t.Errorf("it is %v %v", d.header, d.body)
	}
	moved := app
	moved.Installations = []localforge.Installation{{ID: 70, Owner: owner, Suspended: true}, {ID: 71, Owner: "other"}}
	must(t, w.PutApp(moved))
	must(t, w.PutApp(app))
	installed := r.want("its installations", "installation suspend", "installation created", "installation unsuspend", "installation deleted")[1]
	if repos := installed.body["repositories"].([]any); len(repos) != 1 || repos[0].(map[string]any)["full_name"] != "other/things" {
		t.Errorf("it is installed on %v", repos)
	}
	signed := w.signed(t, key, "7", -time.Minute, 5*time.Minute)
	_, body := w.ask(t, "GET", "/app/hook/deliveries", signed, "")
	w.held(t, "[]hook-delivery-item", body)
	var rows []struct {
		ID   int64
		GUID string
	}
	must(t, json.Unmarshal([]byte(body), &rows))
	first := rows[len(rows)-1] // the last one need not be listed yet
	if first.GUID != d.id {
		t.Fatalf("listed are %s", body)
	}
	if resp, body := w.ask(t, "POST", fmt.Sprintf("/app/hook/deliveries/%d/attempts", first.ID), signed, ""); resp.StatusCode != http.StatusAccepted {
		t.Fatalf("%d %s", resp.StatusCode, body)
	}
	if again := r.want("again", "issue_comment created")[0]; again.id != d.id {
		t.Errorf("it is another one: %s", again.id)
	}
}

// graphql runs a mutation with an id.
func (e *env) graphql(t *testing.T, token, mutation, id string) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"query": mutation, "variables": map[string]string{"id": id}})
	must(t, err)
	if resp, answer := e.ask(t, "POST", "/api/graphql", token, string(body)); resp.StatusCode != http.StatusOK || strings.Contains(answer, `"errors"`) {
		t.Fatalf("%d %s", resp.StatusCode, answer)
	}
}
