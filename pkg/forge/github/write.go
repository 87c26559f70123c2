package github

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/google/go-github/v60/github"

	"github.com/signalbox/signalbox/pkg/forge"
)

// CreateIssue creates an issue. GitHub drops the labels if the user cannot triage.
func (c *Client) CreateIssue(ctx context.Context, repo string, in forge.NewIssue) (forge.Issue, error) {
	owner, name, err := split(repo)
	if err != nil {
		return forge.Issue{}, err
	}
	request := &github.IssueRequest{Title: &in.Title, Body: &in.Body}
	if len(in.Labels) > 0 {
		request.Labels = &in.Labels
	}
	row, _, err := c.api.Issues.Create(ctx, owner, name, request)
	if err != nil {
		return forge.Issue{}, explain(ctx, "create an issue in "+repo, err)
	}
	return issue(repo, row), nil
}

// CloseIssue closes an issue as not planned.
func (c *Client) CloseIssue(ctx context.Context, repo string, number int) error {
	owner, name, err := split(repo)
	if err != nil {
		return err
	}
	state, reason := "closed", "not_planned"
	_, _, err = c.api.Issues.Edit(ctx, owner, name, number, &github.IssueRequest{State: &state, StateReason: &reason})
	return explain(ctx, fmt.Sprintf("close %s#%d", repo, number), err)
}

// Comment creates a comment on an issue or a pull request.
func (c *Client) Comment(ctx context.Context, repo string, number int, body string) (forge.Comment, error) {
	owner, name, err := split(repo)
	if err != nil {
		return forge.Comment{}, err
	}
	row, _, err := c.api.Issues.CreateComment(ctx, owner, name, number, &github.IssueComment{Body: &body})
	if err != nil {
		return forge.Comment{}, explain(ctx, fmt.Sprintf("comment on %s#%d", repo, number), err)
	}
	return comment(row), nil
}

// EditComment replaces a comment's text.
func (c *Client) EditComment(ctx context.Context, repo string, id int64, body string) (forge.Comment, error) {
	owner, name, err := split(repo)
	if err != nil {
		return forge.Comment{}, err
	}
	row, _, err := c.api.Issues.EditComment(ctx, owner, name, id, &github.IssueComment{Body: &body})
	if err != nil {
		return forge.Comment{}, explain(ctx, fmt.Sprintf("edit comment %d in %s", id, repo), err)
	}
	return comment(row), nil
}

// WithdrawComment deletes a comment.
func (c *Client) WithdrawComment(ctx context.Context, repo string, id int64) error {
	owner, name, err := split(repo)
	if err != nil {
		return err
	}
	_, err = c.api.Issues.DeleteComment(ctx, owner, name, id)
	return explain(ctx, fmt.Sprintf("withdraw comment %d in %s", id, repo), err)
}

// AddLabels adds labels to those the issue has.
func (c *Client) AddLabels(ctx context.Context, repo string, number int, labels []string) error {
	owner, name, err := split(repo)
	if err != nil {
		return err
	}
	_, _, err = c.api.Issues.AddLabelsToIssue(ctx, owner, name, number, labels)
	return explain(ctx, fmt.Sprintf("label %s#%d", repo, number), err)
}

// RemoveLabel takes a label off; one that is not there is ErrNotFound.
func (c *Client) RemoveLabel(ctx context.Context, repo string, number int, label string) error {
	owner, name, err := split(repo)
	if err != nil {
		return err
	}
	_, err = c.api.Issues.RemoveLabelForIssue(ctx, owner, name, number, url.PathEscape(label))
	return explain(ctx, fmt.Sprintf("take label %q off %s#%d", label, repo, number), err)
}

// CreatePullRequest proposes a branch of the repository itself. One that is
// proposed already is ErrInvalid. Where the plan of the repository has no drafts, the pull
// request is opened as one that is no draft: see its Draft.
func (c *Client) CreatePullRequest(ctx context.Context, repo string, in forge.NewPullRequest) (forge.PullRequest, error) {
	owner, name, err := split(repo)
	if err != nil {
		return forge.PullRequest{}, err
	}
	create := func(draft bool) (*github.PullRequest, error) {
		row, _, err := c.api.PullRequests.Create(ctx, owner, name, &github.NewPullRequest{
			Title: &in.Title, Body: &in.Body, Head: &in.Head, Base: &in.Base, Draft: &draft,
		})
		return row, err
	}
	row, err := create(in.Draft)
	if said, ok := refusal(err, http.StatusUnprocessableEntity); ok && in.Draft && says(said, "draft pull requests are not supported") {
		row, err = create(false)
	}
	if err != nil {
		return forge.PullRequest{}, explain(ctx, fmt.Sprintf("propose %s for %s of %s", in.Head, in.Base, repo), err)
	}
	return pullRequest(repo, row), nil
}
