package github

import (
	"context"
	"fmt"

	"github.com/google/go-github/v60/github"

	"github.com/signalbox/signalbox/pkg/forge"
)

var (
	_ forge.Responder  = (*Client)(nil)
	_ forge.Discussion = (*Client)(nil)
)

// React adds a reaction to a comment on an issue or a pull request.
func (c *Client) React(ctx context.Context, repo string, comment int64, with forge.Reaction) error {
	owner, name, err := split(repo)
	if err != nil {
		return err
	}
	_, _, err = c.api.Reactions.CreateIssueCommentReaction(ctx, owner, name, comment, string(with))
	return explain(ctx, fmt.Sprintf("react to comment %d in %s", comment, repo), err)
}

// Reply replies in the conversation on lines of the change that starts with the comment.
func (c *Client) Reply(ctx context.Context, repo string, number int, comment int64, body string) (forge.ReviewComment, error) {
	owner, name, err := split(repo)
	if err != nil {
		return forge.ReviewComment{}, err
	}
	row, _, err := c.api.PullRequests.CreateCommentInReplyTo(ctx, owner, name, number, body, comment)
	if err != nil {
		return forge.ReviewComment{}, explain(ctx, fmt.Sprintf("answer comment %d on %s#%d", comment, repo, number), err)
	}
	return reviewComment(row), nil
}

// WithdrawReply deletes a comment on lines of the change.
func (c *Client) WithdrawReply(ctx context.Context, repo string, comment int64) error {
	owner, name, err := split(repo)
	if err != nil {
		return err
	}
	_, err = c.api.PullRequests.DeleteComment(ctx, owner, name, comment)
	return explain(ctx, fmt.Sprintf("withdraw comment %d on a change in %s", comment, repo), err)
}

// Resolve resolves a conversation. Only GraphQL can.
func (c *Client) Resolve(ctx context.Context, repo, thread string) error {
	var answer struct {
		ResolveReviewThread struct {
			Thread struct{ IsResolved bool }
		}
	}
	what := "resolve conversation " + thread
	if err := c.graphql(about(ctx, repo), what, resolveMutation, map[string]any{"id": thread}, &answer); err != nil {
		return err
	}
	if !answer.ResolveReviewThread.Thread.IsResolved {
		return fmt.Errorf("github: %s: %w: it is still open", what, forge.ErrUnavailable)
	}
	return nil
}

func reviewComment(row *github.PullRequestComment) forge.ReviewComment {
	return forge.ReviewComment{
		ID: row.GetID(), Review: row.GetPullRequestReviewID(), ReplyTo: row.GetInReplyTo(), Author: user(row.GetUser()), Body: row.GetBody(),
		Path: row.GetPath(), Line: row.GetLine(), Commit: row.GetOriginalCommitID(), URL: row.GetHTMLURL(),
		CreatedAt: row.GetCreatedAt().Time, UpdatedAt: row.GetUpdatedAt().Time,
	}
}
