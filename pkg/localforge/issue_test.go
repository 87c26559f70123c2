package localforge_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-github/v60/github"
)

func newIssue(t *testing.T, c *github.Client, title string, labels ...string) *github.Issue {
	t.Helper()
	i, _, err := c.Issues.Create(t.Context(), owner, name, &github.IssueRequest{Title: &title, Labels: &labels})
	must(t, err)
	return i
}

func TestIssuesAreFilteredAndSorted(t *testing.T) {
	w := newEnv(t)
	ada, max := w.client(t, adaToken), w.client(t, maxToken)
	newIssue(t, ada, "one", "bug", "ui")
	newIssue(t, ada, "two", "bug")
	three := newIssue(t, max, "three")
	newIssue(t, ada, "four")
	_, _, err := ada.Issues.Edit(t.Context(), owner, name, 4, &github.IssueRequest{State: github.String("closed"), StateReason: github.String("not_planned")})
	must(t, err)
	_, _, err = ada.Issues.CreateComment(t.Context(), owner, name, 1, &github.IssueComment{Body: github.String("x")})
	must(t, err)
	for _, tc := range []struct {
		what    string
		options github.IssueListByRepoOptions
		want    string
	}{
		{"open ones, newest first, by default", github.IssueListByRepoOptions{}, "three two one"},
		{"closed ones", github.IssueListByRepoOptions{State: "closed"}, "four"},
		{"all", github.IssueListByRepoOptions{State: "all"}, "four three two one"},
		{"oldest first", github.IssueListByRepoOptions{Direction: "asc"}, "one two three"},
		{"by change", github.IssueListByRepoOptions{Sort: "updated", Direction: "asc"}, "two three one"},
		{"by comments", github.IssueListByRepoOptions{Sort: "comments"}, "one three two"},
		{"with a label", github.IssueListByRepoOptions{Labels: []string{"BUG"}}, "two one"},
		{"with two labels", github.IssueListByRepoOptions{Labels: []string{"bug", "ui"}}, "one"},
		{"by a person", github.IssueListByRepoOptions{Creator: "max"}, "three"},
		{"since a time, that time included", github.IssueListByRepoOptions{Since: three.GetUpdatedAt().Time}, "three one"},
	} {
		t.Run(tc.what, func(t *testing.T) {
			rows, _, err := ada.Issues.ListByRepo(t.Context(), owner, name, &tc.options)
			must(t, err)
			var titles []string
			for _, row := range rows {
				titles = append(titles, row.GetTitle())
			}
			if got := strings.Join(titles, " "); got != tc.want {
				t.Errorf("issues = %q, want %q", got, tc.want)
			}
		})
	}
}

func TestIssueCanBeClosedAndReopened(t *testing.T) {
	w := newEnv(t)
	ada := w.client(t, adaToken)
	newIssue(t, ada, "x")
	closed, _, err := ada.Issues.Edit(t.Context(), owner, name, 1, &github.IssueRequest{State: github.String("closed")})
	must(t, err)
	if closed.GetState() != "closed" || closed.GetStateReason() != "completed" || closed.ClosedAt == nil || closed.GetClosedBy().GetLogin() != "ada" {
		t.Errorf("closed = %v", closed)
	}
	open, _, err := ada.Issues.Edit(t.Context(), owner, name, 1, &github.IssueRequest{State: github.String("open")})
	must(t, err)
	if open.GetState() != "open" || open.GetStateReason() != "reopened" || open.ClosedAt != nil {
		t.Errorf("reopened = %v", open)
	}
}

func TestLabelsAreAddedReplacedAndRemoved(t *testing.T) {
	w := newEnv(t)
	ada := w.client(t, adaToken)
	newIssue(t, ada, "x", "bug")
	names := func(labels []*github.Label, _ *github.Response, err error) string {
		t.Helper()
		must(t, err)
		var names []string
		for _, l := range labels {
			names = append(names, l.GetName())
		}
		return strings.Join(names, ", ")
	}
	ctx := t.Context()
	if got := names(ada.Issues.AddLabelsToIssue(ctx, owner, name, 1, []string{"signalbox:needs input", "Bug"})); got != "bug, signalbox:needs input" {
		t.Errorf("added: %s", got)
	}
	_, err := ada.Issues.RemoveLabelForIssue(ctx, owner, name, 1, "signalbox:needs%20input")
	must(t, err)
	if got := names(ada.Issues.ListLabelsByIssue(ctx, owner, name, 1, nil)); got != "bug" {
		t.Errorf("after removing: %s", got)
	}
	if got := names(ada.Issues.ReplaceLabelsForIssue(ctx, owner, name, 1, []string{"a", "b"})); got != "a, b" {
		t.Errorf("replaced: %s", got)
	}
	_, err = ada.Issues.RemoveLabelsForIssue(ctx, owner, name, 1)
	must(t, err)
	if got := names(ada.Issues.ListLabels(ctx, owner, name, nil)); got != "bug, signalbox:needs input, a, b" {
		t.Errorf("the repository's: %s", got)
	}
	_, _, err = ada.Issues.CreateLabel(ctx, owner, name, &github.Label{Name: github.String("BUG"), Color: github.String("ff0000")})
	if status, _ := refusal(t, err); status != http.StatusUnprocessableEntity {
		t.Errorf("a label that exists: %v", err)
	}
}

func TestNumbersAreUniqueWhateverComesAtOnce(t *testing.T) {
	w := newEnv(t)
	ada := w.client(t, adaToken)
	var wait sync.WaitGroup
	numbers := make([]int, 40)
	for n := range numbers {
		wait.Go(func() {
			i, _, err := ada.Issues.Create(t.Context(), owner, name, &github.IssueRequest{Title: github.String(fmt.Sprint(n))})
			if err != nil {
				t.Error(err)
				return
			}
			numbers[n] = i.GetNumber()
		})
	}
	wait.Wait()
	slices.Sort(numbers)
	for n, number := range numbers {
		if number != n+1 {
			t.Fatalf("numbers = %v", numbers)
		}
	}
}
