package github

import (
	"context"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/pkg/forge"
)

var _ forge.Editing = (*Client)(nil)

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
