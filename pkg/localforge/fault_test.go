package localforge_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-github/v60/github"

	"github.com/signalbox/signalbox/pkg/git/gittest"
	"github.com/signalbox/signalbox/pkg/localforge"
)

// TestLostAnswersLeaveTheirEffect lets a request have its effect and its answer be lost.
func TestLostAnswersLeaveTheirEffect(t *testing.T) {
	var fault atomic.Pointer[localforge.Fault]
	w := newEnv(t, func(c *localforge.Config) {
		c.Fault = func(r *http.Request) *localforge.Fault {
			if r.Method == http.MethodGet {
				return nil
			}
			return fault.Swap(nil)
		}
	})
	rob, work := w.client(t, robToken), w.clone(t, robToken)
	lose := func(f localforge.Fault) { fault.Store(&f) }

	lose(localforge.Fault{After: true})
	_, _, err := rob.Issues.Create(t.Context(), owner, name, &github.IssueRequest{Title: github.String("lost")})
	if err == nil {
		t.Fatal("the answer arrived")
	}
	lose(localforge.Fault{Status: http.StatusBadGateway, After: true})
	_, _, err = rob.Issues.CreateComment(t.Context(), owner, name, 1, &github.IssueComment{Body: github.String("lost")})
	if resp, ok := err.(*github.ErrorResponse); !ok || resp.Response.StatusCode != http.StatusBadGateway {
		t.Fatalf("err = %v", err)
	}
	lose(localforge.Fault{Status: http.StatusBadGateway})
	_, _, err = rob.Issues.CreateComment(t.Context(), owner, name, 1, &github.IssueComment{Body: github.String("never")})
	if err == nil {
		t.Fatal("the answer arrived")
	}
	comments, _, err := rob.Issues.ListComments(t.Context(), owner, name, 1, nil)
	must(t, err)
	if len(comments) != 1 || comments[0].GetBody() != "lost" {
		t.Errorf("comments = %v", comments)
	}

	gittest.Run(t, work, "checkout", "-q", "-b", "topic")
	StoreXWrite(t, work, "a.txt", "a\n")
	gittest.Run(t, work, "add", ".")
	gittest.Run(t, work, "commit", "-q", "-m", "x")
	lose(localforge.Fault{After: true})
	if _, err := work.Run(t.Context(), "push", "-q", "origin", "topic"); err == nil {
		t.Error("the push was answered")
	}
	sha := gittest.Run(t, work, "rev-parse", "HEAD")
	if got := gittest.Run(t, work, "ls-remote", "origin", "refs/heads/topic"); !strings.HasPrefix(got, sha) {
		t.Errorf("topic is at %q, want %s", got, sha)
	}
	_, _, err = rob.PullRequests.Create(t.Context(), owner, name, &github.NewPullRequest{Title: github.String("x"), Head: github.String("topic"), Base: github.String("main")})
	must(t, err)
	lose(localforge.Fault{After: true})
	if _, _, err = rob.PullRequests.Merge(t.Context(), owner, name, 2, "", nil); err == nil {
		t.Error("the merge was answered")
	}
	pr, _, err := rob.PullRequests.Get(t.Context(), owner, name, 2)
	must(t, err)
	if !pr.GetMerged() {
		t.Error("the merge had no effect")
	}
}
