package forge

import (
	"context"
	"strings"
	"time"
)

// Responder answers reviewers. Every method is one effect.
type Responder interface {
	// Reply answers a conversation on lines of the change, by its first comment.
	Reply(ctx context.Context, repo string, number int, comment int64, body string) (ReviewComment, error)
	// Resolve ends a conversation; one that has ended stays as it is.
	Resolve(ctx context.Context, thread string) error
}

// Poster is what Post works with.
type Poster interface {
	Self(ctx context.Context) (string, error)
	Comments(ctx context.Context, repo string, number int, since time.Time) ([]Comment, error)
	Comment(ctx context.Context, repo string, number int, body string) (Comment, error)
}

// Post makes a comment unless it is there: our own, with the marker. The marker
// alone is no identity; anybody could have copied it.
func Post(ctx context.Context, on Poster, repo string, number int, marker, body string) (Comment, error) {
	self, err := on.Self(ctx)
	if err != nil {
		return Comment{}, err
	}
	comments, err := on.Comments(ctx, repo, number, time.Time{})
	if err != nil {
		return Comment{}, err
	}
	for _, c := range comments {
		if c.Author.Login == self && strings.Contains(c.Body, marker) {
			return c, nil
		}
	}
	return on.Comment(ctx, repo, number, body+"\n\n"+marker)
}

// Answering is what Answer works with.
type Answering interface {
	Responder
	Self(ctx context.Context) (string, error)
	ReviewComments(ctx context.Context, repo string, number int) ([]ReviewComment, error)
}

// Answer replies in a conversation on lines of the change unless our own reply
// with the marker is there. comment is any comment of the conversation; one
// that is gone needs no answer.
func Answer(ctx context.Context, on Answering, repo string, number int, comment int64, marker, body string) error {
	self, err := on.Self(ctx)
	if err != nil {
		return err
	}
	all, err := on.ReviewComments(ctx, repo, number)
	if err != nil {
		return err
	}
	first := map[int64]int64{}
	for _, c := range all {
		first[c.ID] = c.ID
		if c.ReplyTo != 0 {
			first[c.ID] = c.ReplyTo
		}
	}
	root, there := first[comment]
	if !there {
		return nil
	}
	for _, c := range all {
		if first[c.ID] == root && c.Author.Login == self && strings.Contains(c.Body, marker) {
			return nil
		}
	}
	_, err = on.Reply(ctx, repo, number, root, body+"\n\n"+marker)
	return err
}
