package localforge_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-github/v60/github"

	"github.com/signalbox/signalbox/pkg/localforge"
)

func TestEverythingIsThereAfterReopening(t *testing.T) {
	w := newEnv(t)
	rob, work := w.client(t, robToken), w.clone(t, robToken)
	newIssue(t, rob, "x", "bug")
	said, _, err := rob.Issues.CreateComment(t.Context(), owner, name, 1, &github.IssueComment{Body: github.String("x")})
	must(t, err)
	_, _, err = rob.Reactions.CreateIssueCommentReaction(t.Context(), owner, name, said.GetID(), "eyes")
	must(t, err)
	pr := w.propose(t, rob, work, "topic", "topic.txt", "x\n")
	_, _, err = w.client(t, adaToken).PullRequests.CreateReview(t.Context(), owner, name, 2, &github.PullRequestReviewRequest{Event: github.String("APPROVE")})
	must(t, err)
	_, _, err = rob.Repositories.CreateStatus(t.Context(), owner, name, pr.GetHead().GetSHA(), &github.RepoStatus{State: github.String("success")})
	must(t, err)
	_, _, err = rob.Checks.CreateCheckRun(t.Context(), owner, name, github.CreateCheckRunOptions{Name: "test", HeadSHA: pr.GetHead().GetSHA()})
	must(t, err)
	paths := []string{
		"/users/rob%5Bbot%5D", "/repos/acme/widgets", "/repos/acme/widgets/issues?state=all", "/repos/acme/widgets/issues/comments", "/repos/acme/widgets/labels",
		"/repos/acme/widgets/pulls/2", "/repos/acme/widgets/pulls/2/reviews", "/repos/acme/widgets/commits/topic/status", "/repos/acme/widgets/commits/topic/check-runs",
	}
	before := map[string]string{}
	w.SetURL("http://forge.test")
	for _, path := range paths {
		_, before[path] = w.ask(t, "GET", path, robToken, "")
	}
	if _, err := localforge.Open(localforge.Config{Dir: w.dir}); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("a second forge on the directory: %v", err)
	}
	must(t, w.Close())
	w.open(t)
	w.SetURL("http://forge.test")
	for _, path := range paths {
		if resp, after := w.ask(t, "GET", path, robToken, ""); resp.StatusCode != http.StatusOK || after != before[path] {
			t.Errorf("%s: %d\n%s\nwas\n%s", path, resp.StatusCode, after, before[path])
		}
	}
	if err := w.CreateRepo(t.Context(), full, ""); !errors.Is(err, localforge.ErrExists) {
		t.Errorf("making the repository again: %v", err)
	}
	if i := newIssue(t, w.client(t, robToken), "y"); i.GetNumber() != 3 {
		t.Errorf("the next number is %d", i.GetNumber())
	}
}

func TestJournalThatEndsAnywhereIsReadUpToThere(t *testing.T) {
	w := newEnv(t)
	for range 5 {
		newIssue(t, w.client(t, adaToken), "x")
	}
	must(t, w.Close())
	path := filepath.Join(w.dir, "journal.jsonl")
	whole, err := os.ReadFile(path)
	must(t, err)
	for cut := 0; cut <= len(whole); cut += 37 {
		must(t, os.WriteFile(path, whole[:cut], 0o600))
		f, err := localforge.Open(localforge.Config{Dir: w.dir, Users: users(), Public: true, Now: w.clock.Now})
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		recorder := httptest.NewRecorder()
		f.Handler().ServeHTTP(recorder, httptest.NewRequest("GET", "/repos/acme/widgets/issues", nil))
		want := strings.Count(string(whole[:strings.LastIndex(string(whole[:cut]), "\n")+1]), `"issue":`)
		if got := strings.Count(recorder.Body.String(), `"title"`); got != want {
			t.Fatalf("cut at %d: %d issues, want %d", cut, got, want)
		}
		must(t, f.Close())
	}
}

func TestDamagedJournalIsRefused(t *testing.T) {
	w := newEnv(t)
	must(t, w.Close())
	path := filepath.Join(w.dir, "journal.jsonl")
	must(t, os.WriteFile(path, []byte("nonsense\n[]\n"), 0o600))
	if _, err := localforge.Open(localforge.Config{Dir: w.dir}); err == nil || !strings.Contains(err.Error(), "line 1 is damaged") {
		t.Errorf("err = %v", err)
	}
	must(t, os.WriteFile(path, nil, 0o600))
	w.open(t)
}
