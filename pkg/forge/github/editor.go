package github

import (
	"context"
	"fmt"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/signalbox/signalbox/pkg/forge"
)

var (
	_ forge.Editing  = (*Client)(nil)
	_ forge.Renaming = (*Client)(nil)
)

// Renamer returns who gave the issue its title, by the newest event of it.
func (c *Client) Renamer(ctx context.Context, repo string, number int) (forge.User, error) {
	rows, err := c.issueEvents(ctx, repo, number)
	if err != nil {
		return forge.User{}, err
	}
	var newest *github.IssueEvent
	for _, row := range rows { // the oldest first
		if row.GetEvent() == "renamed" {
			newest = row
		}
	}
	switch {
	case newest == nil:
		return forge.User{}, nil
	case newest.GetActor().GetLogin() == "":
		return forge.User{}, fmt.Errorf("github: read who renamed %s#%d: %w: the forge does not say", repo, number, forge.ErrNotFound)
	}
	return user(newest.GetActor()), nil
}

// Editor returns who edited an issue's or a comment's text last. Only GraphQL tells. If the
// account of the editor is deleted the error is forge.ErrNotFound.
func (c *Client) Editor(ctx context.Context, repo, node string) (forge.User, error) {
	var answer struct {
		Node *struct {
			LastEditedAt *time.Time
			Editor       *actor
		}
	}
	what := "read who edited " + node
	if err := c.graphql(about(ctx, repo), what, editorQuery, map[string]any{"id": node}, &answer); err != nil {
		return forge.User{}, err
	}
	switch {
	case answer.Node == nil || answer.Node.LastEditedAt != nil && answer.Node.Editor == nil:
		return forge.User{}, fmt.Errorf("github: %s: %w: the forge does not say", what, forge.ErrNotFound)
	case answer.Node.LastEditedAt == nil:
		return forge.User{}, nil
	}
	return answer.Node.Editor.user(), nil
}
