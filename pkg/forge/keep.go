package forge

import (
	"context"
	"errors"
	"strings"
)

// Keeper is what Keep works with.
type Keeper interface {
	Poster
	EditComment(ctx context.Context, repo string, id int64, body string) (Comment, error)
}

// Keep has one comment of our own with the marker say the body. It edits the comment, or
// posts it if there is none, as Post does. known is the id of the comment, 0 if the caller
// does not know it. Then, and if that one was deleted, Keep looks for the comment.
func Keep(ctx context.Context, on Keeper, repo string, number int, known int64, marker, body string) (Comment, error) {
	text := body + "\n\n" + marker
	if known != 0 {
		c, err := on.EditComment(ctx, repo, known, text)
		if !errors.Is(err, ErrNotFound) {
			return c, err
		}
	}
	c, err := Post(ctx, on, repo, number, marker, body)
	if err != nil || strings.TrimSpace(c.Body) == strings.TrimSpace(text) {
		return c, err
	}
	return on.EditComment(ctx, repo, c.ID, text)
}
