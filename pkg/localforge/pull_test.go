package localforge_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-github/v60/github"

	"github.com/signalbox/signalbox/pkg/git/gittest"
)

func TestDeletedBranchClosesItsPullRequest(t *testing.T) {
	w := newEnv(t)
	rob, work := w.client(t, robToken), w.clone(t, robToken)
	pr := w.propose(t, rob, work, "topic", "topic.txt", "x\n")
	gittest.Run(t, work, "push", "-q", "origin", ":topic")
	closed, _, err := rob.PullRequests.Get(t.Context(), owner, name, pr.GetNumber())
	must(t, err)
	if closed.GetState() != "closed" || closed.GetMerged() || closed.GetHead().GetSHA() != pr.GetHead().GetSHA() {
		t.Errorf("pull request = %v", closed)
	}
	_, _, err = rob.PullRequests.Edit(t.Context(), owner, name, pr.GetNumber(), &github.PullRequest{State: github.String("open")})
	if status, _ := refusal(t, err); status != http.StatusUnprocessableEntity {
		t.Errorf("reopening it without its branch: %v", err)
	}
}

func TestPullRequestsThatCannotBe(t *testing.T) {
	w := newEnv(t)
	rob, work := w.client(t, robToken), w.clone(t, robToken)
	w.propose(t, rob, work, "topic", "topic.txt", "x\n")
	gittest.Run(t, work, "push", "-q", "origin", "origin/main:refs/heads/same")
	for _, tc := range []struct{ why, head, base, want string }{
		{"the head is not there", "absent", "main", "head invalid"},
		{"the base is not there", "topic", "absent", "base invalid"},
		{"the head is a fork's", "eve:topic", "main", "head invalid"},
		{"there is nothing to merge", "same", "main", "No commits between main and same"},
		{"it exists", "topic", "main", "A pull request already exists for acme:topic."},
		{"the head is an option of git's", "--upload-pack=x", "main", "head invalid"},
		{"the head is a revision, not a branch", "main~0", "main", "head invalid"},
	} {
		t.Run("because "+tc.why, func(t *testing.T) {
			_, _, err := rob.PullRequests.Create(t.Context(), owner, name, &github.NewPullRequest{
				Title: github.String("x"), Head: &tc.head, Base: &tc.base,
			})
			refused, ok := err.(*github.ErrorResponse)
			if !ok || refused.Response.StatusCode != http.StatusUnprocessableEntity {
				t.Fatalf("err = %v", err)
			}
			e := refused.Errors[0]
			if got := fmt.Sprintf("%s %s", e.Field, e.Code); got != tc.want && e.Message != tc.want {
				t.Errorf("errors = %+v, want %q", refused.Errors, tc.want)
			}
		})
	}
}

func TestPullRequestsAreFilteredByHeadBaseAndState(t *testing.T) {
	w := newEnv(t)
	rob, work := w.client(t, robToken), w.clone(t, robToken)
	w.propose(t, rob, work, "one", "one.txt", "x\n")
	two := w.propose(t, rob, work, "two", "two.txt", "x\n")
	_, _, err := rob.PullRequests.Edit(t.Context(), owner, name, two.GetNumber(), &github.PullRequest{State: github.String("closed")})
	must(t, err)
	for query, want := range map[github.PullRequestListOptions]int{
		{}:                                 1,
		{State: "all"}:                     2,
		{State: "closed"}:                  1,
		{Head: "acme:one"}:                 1,
		{Head: "acme:two"}:                 0,
		{State: "all", Head: "acme:two"}:   1,
		{State: "all", Base: "main"}:       2,
		{State: "all", Base: "elsewhere"}:  0,
		{State: "all", Head: "other:one"}:  0,
		{State: "all", Head: "unparsable"}: 2,
	} {
		prs, _, err := rob.PullRequests.List(t.Context(), owner, name, &query)
		must(t, err)
		if len(prs) != want {
			t.Errorf("%+v: %d pull requests, want %d", query, len(prs), want)
		}
	}
}
