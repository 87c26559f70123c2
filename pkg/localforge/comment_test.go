package localforge_test

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/signalbox/signalbox/pkg/localforge"
)

func TestMoreThanAHundredCommentsComeInPages(t *testing.T) {
	w := newEnv(t)
	ada := w.client(t, adaToken)
	newIssue(t, ada, "Long")
	var middle time.Time
	for n := range 105 {
		c, _, err := ada.Issues.CreateComment(t.Context(), owner, name, 1, &github.IssueComment{Body: github.String(strconv.Itoa(n))})
		must(t, err)
		if n == 100 {
			middle = c.GetCreatedAt().Time
		}
	}
	var got []string
	options := &github.IssueListCommentsOptions{ListOptions: github.ListOptions{PerPage: 50}}
	for {
		rows, resp, err := ada.Issues.ListComments(t.Context(), owner, name, 1, options)
		must(t, err)
		for _, row := range rows {
			got = append(got, row.GetBody())
		}
		if resp.NextPage == 0 {
			if resp.PrevPage != 2 || resp.FirstPage != 1 {
				t.Errorf("the last page links to %+v", resp)
			}
			break
		}
		if resp.LastPage != 3 {
			t.Errorf("last page = %d, want 3", resp.LastPage)
		}
		options.Page = resp.NextPage
	}
	for n := range 105 {
		if n >= len(got) || got[n] != strconv.Itoa(n) {
			t.Fatalf("comments = %v", got)
		}
	}
	// Over 100 a page is 100, and all of the repository's comments are there too.
	rows, _, err := ada.Issues.ListComments(t.Context(), owner, name, 0, &github.IssueListCommentsOptions{ListOptions: github.ListOptions{PerPage: 500}})
	must(t, err)
	if len(rows) != 100 {
		t.Errorf("a page of 500 has %d", len(rows))
	}
	since, _, err := ada.Issues.ListComments(t.Context(), owner, name, 1, &github.IssueListCommentsOptions{Since: &middle})
	must(t, err)
	if len(since) != 5 || since[0].GetBody() != "100" {
		t.Errorf("since the hundredth there are %d", len(since))
	}
}

func TestDeletedCommentIsGone(t *testing.T) {
	w := newEnv(t)
	ada, max := w.client(t, adaToken), w.client(t, maxToken)
	newIssue(t, ada, "x")
	c, _, err := ada.Issues.CreateComment(t.Context(), owner, name, 1, &github.IssueComment{Body: github.String("x")})
	must(t, err)
	_, err = max.Issues.DeleteComment(t.Context(), owner, name, c.GetID())
	if status, _ := refusal(t, err); status != http.StatusForbidden {
		t.Errorf("deleting another's comment: %v", err)
	}
	_, err = ada.Issues.DeleteComment(t.Context(), owner, name, c.GetID())
	must(t, err)
	_, _, err = ada.Issues.GetComment(t.Context(), owner, name, c.GetID())
	if status, _ := refusal(t, err); status != http.StatusNotFound {
		t.Errorf("reading it: %v", err)
	}
	rows, _, err := ada.Issues.ListComments(t.Context(), owner, name, 1, nil)
	must(t, err)
	if len(rows) != 0 {
		t.Errorf("comments = %v", rows)
	}
}

func TestAReactionIsThereOnceForEachAccount(t *testing.T) {
	w := newEnv(t, func(c *localforge.Config) { c.Public = true })
	ada, max := w.client(t, adaToken), w.client(t, maxToken)
	newIssue(t, ada, "x")
	c, _, err := ada.Issues.CreateComment(t.Context(), owner, name, 1, &github.IssueComment{Body: github.String("x")})
	must(t, err)
	react := func(by *github.Client, content string) (int64, int) {
		t.Helper()
		made, resp, err := by.Reactions.CreateIssueCommentReaction(t.Context(), owner, name, c.GetID(), content)
		if resp == nil {
			t.Fatal(err)
		}
		return made.GetID(), resp.StatusCode
	}
	first, status := react(ada, "eyes")
	if again, same := react(ada, "eyes"); status != http.StatusCreated || same != http.StatusOK || again != first {
		t.Errorf("it was answered with %d, and then with %d and another id: %v", status, same, again != first)
	}
	if _, status := react(max, "eyes"); status != http.StatusCreated {
		t.Errorf("another's was answered with %d", status)
	}
	if _, status := react(ada, "shrug"); status != http.StatusUnprocessableEntity {
		t.Errorf("one that GitHub does not have was answered with %d", status)
	}
	if _, err := max.Reactions.DeleteIssueCommentReaction(t.Context(), owner, name, c.GetID(), first); err == nil {
		t.Error("a person took another's reaction back")
	}
	got, _, err := ada.Issues.GetComment(t.Context(), owner, name, c.GetID())
	must(t, err)
	if r := got.GetReactions(); r.GetEyes() != 2 || r.GetTotalCount() != 2 || r.GetRocket() != 0 {
		t.Errorf("the comment counts %v", r)
	}
	_, err = ada.Reactions.DeleteIssueCommentReaction(t.Context(), owner, name, c.GetID(), first)
	must(t, err)
	rows, _, err := ada.Reactions.ListIssueCommentReactions(t.Context(), owner, name, c.GetID(), nil)
	must(t, err)
	if len(rows) != 1 || rows[0].GetUser().GetLogin() != "max" {
		t.Errorf("left are %v", rows)
	}
	_, err = ada.Issues.Lock(t.Context(), owner, name, 1, nil)
	must(t, err)
	if _, status := react(max, "heart"); status != http.StatusForbidden {
		t.Errorf("on a locked issue it was answered with %d", status)
	}
	_, err = ada.Issues.DeleteComment(t.Context(), owner, name, c.GetID())
	must(t, err)
	if _, status := react(ada, "rocket"); status != http.StatusNotFound {
		t.Errorf("on a deleted comment it was answered with %d", status)
	}
}
