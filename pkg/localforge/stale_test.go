package localforge_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/signalbox/signalbox/pkg/localforge"
)

func TestAListIsReadAsItWasAWhileAgo(t *testing.T) {
	var old atomic.Int64
	w := newEnv(t, func(c *localforge.Config) {
		c.Stale = func(r *http.Request) time.Duration {
			if strings.HasSuffix(r.URL.Path, "/comments") {
				return time.Duration(old.Load()) * time.Second
			}
			return 0
		}
	})
	rob := w.client(t, robToken)
	newIssue(t, rob, "x")
	for _, body := range []string{"a", "b"} {
		_, _, err := rob.Issues.CreateComment(t.Context(), owner, name, 1, &github.IssueComment{Body: github.String(body)})
		must(t, err)
		w.clock.mu.Lock()
		w.clock.now = w.clock.now.Add(20 * time.Second)
		w.clock.mu.Unlock()
	}
	for age, want := range map[int64]int{0: 2, 10: 2, 30: 1} {
		old.Store(age)
		comments, _, err := rob.Issues.ListComments(t.Context(), owner, name, 1, nil)
		if err != nil || len(comments) != want {
			t.Errorf("%d seconds old it has %d, %v, want %d", age, len(comments), err, want)
		}
	}
}

func TestMergeabilityIsComputedForAsLongAsItIsConfigured(t *testing.T) {
	w := newEnv(t, func(c *localforge.Config) { c.ComputingFor = time.Minute })
	rob := w.client(t, robToken)
	StoreXPush(t, w.clone(t, robToken), "topic", "a.txt", "a\n")
	_, _, err := rob.PullRequests.Create(t.Context(), owner, name, &github.NewPullRequest{Title: github.String("x"), Head: github.String("topic"), Base: github.String("main")})
	must(t, err)
	for _, after := range []time.Duration{0, 30 * time.Second, time.Minute} {
		w.clock.mu.Lock()
		w.clock.now = w.clock.now.Add(after)
		w.clock.mu.Unlock()
		pr, _, err := rob.PullRequests.Get(t.Context(), owner, name, 1)
		must(t, err)
		if known := pr.Mergeable != nil; known != (after == time.Minute) {
			t.Errorf("after %s more it is %v", after, pr.Mergeable)
		}
	}
}

func TestHalfAnAnswerLeavesTheWholeEffect(t *testing.T) {
	var fault atomic.Pointer[localforge.Fault]
	w := newEnv(t, func(c *localforge.Config) {
		c.Fault = func(*http.Request) *localforge.Fault { return fault.Swap(nil) }
	})
	rob, err := github.NewClient(nil).WithEnterpriseURLs(w.url, w.url)
	must(t, err)
	rob = rob.WithAuthToken(robToken)
	for range 2 {
		fault.Store(&localforge.Fault{Half: true})
		if _, _, err := rob.Issues.Create(t.Context(), owner, name, &github.IssueRequest{Title: github.String("x")}); err == nil {
			t.Error("half an answer is no error")
		}
	}
	if all, _, err := rob.Issues.ListByRepo(t.Context(), owner, name, nil); err != nil || len(all) != 2 {
		t.Errorf("there are %v, %v", all, err)
	}
}
