package localforge_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-github/v60/github"

	"github.com/signalbox/signalbox/pkg/git/gittest"
)

// TestConversationOnLines goes on as lines move under it.
func TestConversationOnLines(t *testing.T) {
	w := newEnv(t)
	ctx := t.Context()
	ada, rob, work := w.client(t, adaToken), w.client(t, robToken), w.clone(t, robToken)
	pr := w.propose(t, rob, work, "topic", "a.txt", "one\ntwo\nthree\n")
	head := pr.GetHead().GetSHA()

	first, _, err := ada.PullRequests.CreateComment(ctx, owner, name, 1, &github.PullRequestComment{
		Body: github.String("Why two?"), Path: github.String("a.txt"), Line: github.Int(2), CommitID: &head,
	})
	must(t, err)
	if first.GetLine() != 2 || first.GetDiffHunk() != "@@ -0,0 +1,3 @@\n+one\n+two" || first.GetPullRequestReviewID() == 0 || first.GetUser().GetLogin() != "ada" {
		t.Errorf("comment = %v", first)
	}
	reply, _, err := rob.PullRequests.CreateCommentInReplyTo(ctx, owner, name, 1, "Because.", first.GetID())
	must(t, err)
	if reply.GetInReplyTo() != first.GetID() || reply.GetPath() != "a.txt" {
		t.Errorf("reply = %v", reply)
	}
	review, _, err := ada.PullRequests.CreateReview(ctx, owner, name, 1, &github.PullRequestReviewRequest{
		Event: github.String("REQUEST_CHANGES"), Comments: []*github.DraftReviewComment{{Path: github.String("a.txt"), Line: github.Int(3), Body: github.String("And three?")}},
	})
	must(t, err)
	of, _, err := ada.PullRequests.ListReviewComments(ctx, owner, name, 1, review.GetID(), nil)
	must(t, err)
	if len(of) != 1 || of[0].GetBody() != "And three?" {
		t.Errorf("the review's comments = %v", of)
	}
	edited, _, err := ada.PullRequests.EditComment(ctx, owner, name, first.GetID(), &github.PullRequestComment{Body: github.String("Why, two?")})
	must(t, err)
	if edited.GetBody() != "Why, two?" || !edited.GetUpdatedAt().After(first.GetUpdatedAt().Time) {
		t.Errorf("edited = %v", edited)
	}
	_, err = rob.PullRequests.DeleteComment(ctx, owner, name, reply.GetID())
	must(t, err)
	if pr, _, err = rob.PullRequests.Get(ctx, owner, name, 1); err != nil || pr.GetReviewComments() != 2 {
		t.Errorf("%d comments on lines, err = %v", pr.GetReviewComments(), err)
	}

	StoreXPush(t, work, "topic", "a.txt", "zero\none\ntwo\n3\n")
	var lines []string
	all, _, err := rob.PullRequests.ListComments(ctx, owner, name, 1, &github.PullRequestListCommentsOptions{Sort: "created", Direction: "desc"})
	must(t, err)
	for _, c := range all {
		lines = append(lines, fmt.Sprintf("%s now %d was %d", c.GetBody(), c.GetLine(), c.GetOriginalLine()))
	}
	if want := []string{"And three? now 0 was 3", "Why, two? now 3 was 2"}; !slices.Equal(lines, want) {
		t.Errorf("lines = %q, want %q", lines, want)
	}
	one, _, err := rob.PullRequests.GetComment(ctx, owner, name, first.GetID())
	must(t, err)
	if one.GetLine() != 3 || one.GetOriginalCommitID() != head {
		t.Errorf("comment = %v", one)
	}
	if resp, body := w.ask(t, "GET", "/acme/widgets/pull/1", adaToken, ""); resp.StatusCode != http.StatusOK || !strings.Contains(body, "Why, two?") {
		t.Errorf("the page does not show it: %d", resp.StatusCode)
	}
}

func TestCommentsThatCannotBe(t *testing.T) {
	w := newEnv(t)
	ada, rob, work := w.client(t, adaToken), w.client(t, robToken), w.clone(t, robToken)
	w.propose(t, rob, work, "topic", "a.txt", "one\n")
	for why, c := range map[string]*github.PullRequestComment{
		"the line is not in the change": {Body: github.String("x"), Path: github.String("a.txt"), Line: github.Int(2)},
		"nor is the file":               {Body: github.String("x"), Path: github.String("README.md"), Line: github.Int(1)},
		"it says nothing":               {Path: github.String("a.txt"), Line: github.Int(1)},
		"the commit is none":            {Body: github.String("x"), Path: github.String("a.txt"), Line: github.Int(1), CommitID: github.String(strings.Repeat("0", 40))},
	} {
		_, _, err := ada.PullRequests.CreateComment(t.Context(), owner, name, 1, c)
		if status, _ := refusal(t, err); status != http.StatusUnprocessableEntity {
			t.Errorf("%s: %v", why, err)
		}
	}
	_, _, err := ada.PullRequests.CreateCommentInReplyTo(t.Context(), owner, name, 1, "x", 99)
	if status, _ := refusal(t, err); status != http.StatusNotFound {
		t.Errorf("a reply to nothing: %v", err)
	}
}

func TestReviewersAreAskedUntilTheyHaveReviewed(t *testing.T) {
	w := newEnv(t)
	ctx := t.Context()
	ada, rob, work := w.client(t, adaToken), w.client(t, robToken), w.clone(t, robToken)
	w.propose(t, rob, work, "topic", "a.txt", "one\n")
	asked := func() string {
		got, _, err := rob.PullRequests.ListReviewers(ctx, owner, name, 1, nil)
		must(t, err)
		var logins []string
		for _, u := range got.Users {
			logins = append(logins, u.GetLogin())
		}
		return strings.Join(logins, " ")
	}
	_, _, err := rob.PullRequests.RequestReviewers(ctx, owner, name, 1, github.ReviewersRequest{Reviewers: []string{"ada", "max"}})
	must(t, err)
	if got := asked(); got != "ada max" {
		t.Errorf("asked = %q", got)
	}
	_, err = rob.PullRequests.RemoveReviewers(ctx, owner, name, 1, github.ReviewersRequest{Reviewers: []string{"max"}})
	must(t, err)
	_, _, err = ada.PullRequests.CreateReview(ctx, owner, name, 1, &github.PullRequestReviewRequest{Event: github.String("APPROVE")})
	must(t, err)
	if got := asked(); got != "" {
		t.Errorf("asked = %q after the review", got)
	}
	_, _, err = rob.PullRequests.RequestReviewers(ctx, owner, name, 1, github.ReviewersRequest{Reviewers: []string{"rob[bot]"}})
	if status, _ := refusal(t, err); status != http.StatusUnprocessableEntity {
		t.Errorf("asking the author: %v", err)
	}
}

func TestBranchIsUpdatedFromItsBase(t *testing.T) {
	w := newEnv(t)
	ctx := t.Context()
	rob, work := w.client(t, robToken), w.clone(t, robToken)
	pr := w.propose(t, rob, work, "topic", "a.txt", "one\n")
	update := func(head string) (int, string) {
		resp, body := w.ask(t, "PUT", "/repos/acme/widgets/pulls/1/update-branch", robToken, fmt.Sprintf(`{"expected_head_sha":%q}`, head))
		return resp.StatusCode, body
	}
	if status, body := update(pr.GetHead().GetSHA()); status != 422 || !strings.Contains(body, "no new commits") {
		t.Errorf("without anything new: %d %s", status, body)
	}
	gittest.Run(t, work, "checkout", "-q", "main")
	base := StoreXPush(t, work, "main", "b.txt", "aside\n")
	if status, body := update(base); status != 422 || !strings.Contains(body, "expected head sha") {
		t.Errorf("from another head: %d %s", status, body)
	}
	if status, body := update(pr.GetHead().GetSHA()); status != http.StatusAccepted {
		t.Fatalf("update: %d %s", status, body)
	}
	pr, _, err := rob.PullRequests.Get(ctx, owner, name, 1)
	must(t, err)
	gittest.Run(t, work, "fetch", "-q", "origin")
	if got := gittest.Run(t, work, "log", "-1", "--format=%s %P", pr.GetHead().GetSHA()); !strings.HasPrefix(got, "Merge branch 'main' into topic ") || !strings.HasSuffix(got, base) {
		t.Errorf("head = %q", got)
	}
	StoreXPush(t, work, "main", "a.txt", "two\n")
	if status, body := update(pr.GetHead().GetSHA()); status != 422 || !strings.Contains(body, "merge conflict") {
		t.Errorf("into a conflict: %d %s", status, body)
	}
}
