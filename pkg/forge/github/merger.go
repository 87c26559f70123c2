package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/go-github/v60/github"

	"github.com/signalbox/signalbox/pkg/forge"
)

// MarkReady ends the draft. Only GraphQL can.
func (c *Client) MarkReady(ctx context.Context, repo string, number int) error {
	pr, err := c.PullRequest(ctx, repo, number)
	if err != nil || !pr.Draft {
		return err
	}
	var answer struct {
		Ready struct {
			PullRequest struct{ IsDraft bool }
		} `json:"markPullRequestReadyForReview"`
	}
	what := fmt.Sprintf("mark %s#%d as ready", repo, number)
	if err := c.graphql(about(ctx, repo), what, readyMutation, map[string]any{"id": pr.NodeID}, &answer); err != nil {
		return err
	}
	if answer.Ready.PullRequest.IsDraft {
		return fmt.Errorf("github: %s: %w: it is still a draft", what, forge.ErrUnavailable)
	}
	return nil
}

// UpdateBranch makes GitHub merge the base into the head some time after it returns. It
// changes nothing if the head contains the base.
func (c *Client) UpdateBranch(ctx context.Context, repo string, number int, head string) error {
	owner, name, err := split(repo)
	if err != nil {
		return err
	}
	what := fmt.Sprintf("update the branch of %s#%d", repo, number)
	_, _, err = c.api.PullRequests.UpdateBranch(ctx, owner, name, number, &github.PullRequestBranchUpdateOptions{ExpectedHeadSHA: &head})
	var accepted *github.AcceptedError
	if err == nil || errors.As(err, &accepted) {
		return nil
	}
	if said, ok := refusal(err, http.StatusUnprocessableEntity); ok {
		switch {
		case says(said, "no new commits on the base"):
			return nil
		case says(said, "expected head sha"), says(said, "expected_head_sha"):
			return fmt.Errorf("github: %s: %w: %s", what, forge.ErrHeadMoved, said)
		case says(said, "conflict"):
			return fmt.Errorf("github: %s: %w: %s", what, forge.ErrNotMergeable, said)
		}
	}
	return explain(ctx, what, err)
}

// Merge merges only the given head.
func (c *Client) Merge(ctx context.Context, repo string, number int, in forge.Merge) (string, error) {
	owner, name, err := split(repo)
	if err != nil {
		return "", err
	}
	what := fmt.Sprintf("merge %s#%d", repo, number)
	if in.Head == "" || in.Method == "" {
		return "", fmt.Errorf("github: %s: %w: name the head and the method", what, forge.ErrInvalid)
	}
	result, _, err := c.api.PullRequests.Merge(ctx, owner, name, number, in.Body, &github.PullRequestOptions{
		CommitTitle: in.Title, SHA: in.Head, MergeMethod: in.Method,
	})
	if said, ok := refusal(err, http.StatusMethodNotAllowed); ok {
		sentinel := forge.ErrNotMergeable
		switch {
		case says(said, "base branch was modified"):
			sentinel = forge.ErrBaseMoved
		case says(said, "in progress"):
			sentinel = forge.ErrUnavailable // another merge is in progress
		}
		return "", fmt.Errorf("github: %s: %w: %s", what, sentinel, said)
	}
	if said, ok := refusal(err, http.StatusConflict); ok {
		return "", fmt.Errorf("github: %s: %w: %s", what, forge.ErrHeadMoved, said)
	}
	if err != nil {
		return "", explain(ctx, what, err)
	}
	if !result.GetMerged() || result.GetSHA() == "" {
		return "", fmt.Errorf("github: %s: %w: %s", what, forge.ErrUnavailable, result.GetMessage())
	}
	return result.GetSHA(), nil
}

// says reports whether GitHub's text has the phrase, in letters of either case.
func says(said, phrase string) bool { return strings.Contains(strings.ToLower(said), phrase) }

// refusal returns GitHub's text with the status.
func refusal(err error, status int) (said string, ok bool) {
	var refused *github.ErrorResponse
	if !errors.As(err, &refused) || refused.Response == nil || refused.Response.StatusCode != status {
		return "", false
	}
	return words(refused), true
}
