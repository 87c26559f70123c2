package forge

import (
	"context"
	"slices"
	"strings"
	"time"
)

// Poster is what Post works with.
type Poster interface {
	Self(ctx context.Context) (string, error)
	Comments(ctx context.Context, repo string, number int, since time.Time) ([]Comment, error)
	Comment(ctx context.Context, repo string, number int, body string) (Comment, error)
	WithdrawComment(ctx context.Context, repo string, id int64) error
}

// Post posts a comment unless there is one of our own with the marker. The author is
// checked because anybody can copy a marker. Of several comments, which two processes
// may post at the same time, the oldest stays.
func Post(ctx context.Context, on Poster, repo string, number int, marker, body string) (Comment, error) {
	self, err := on.Self(ctx)
	if err != nil {
		return Comment{}, err
	}
	return effect[Comment]{
		look: func(ctx context.Context) ([]Comment, error) {
			all, err := on.Comments(ctx, repo, number, time.Time{})
			return slices.DeleteFunc(all, func(c Comment) bool { return c.Author.Login != self || !strings.Contains(c.Body, marker) }), err
		},
		make:     func(ctx context.Context) (Comment, error) { return on.Comment(ctx, repo, number, body+"\n\n"+marker) },
		withdraw: func(ctx context.Context, c Comment) error { return on.WithdrawComment(ctx, repo, c.ID) },
		id:       func(c Comment) int64 { return c.ID },
	}.once(ctx)
}

// Answering is what Answer works with.
type Answering interface {
	Responder
	Self(ctx context.Context) (string, error)
	ReviewComments(ctx context.Context, repo string, number int) ([]ReviewComment, error)
}

// Answer replies in a conversation on lines of the change, once, as Post does. The
// comment is any of the conversation. Answer does nothing if that is deleted.
func Answer(ctx context.Context, on Answering, repo string, number int, comment int64, marker, body string) error {
	self, err := on.Self(ctx)
	if err != nil {
		return err
	}
	all, err := on.ReviewComments(ctx, repo, number)
	if err != nil {
		return err
	}
	root := int64(0)
	for _, c := range all {
		if c.ID == comment {
			root = c.conversation()
		}
	}
	if root == 0 {
		return nil
	}
	_, err = effect[ReviewComment]{
		look: func(ctx context.Context) ([]ReviewComment, error) {
			all, err := on.ReviewComments(ctx, repo, number)
			return slices.DeleteFunc(all, func(c ReviewComment) bool {
				return c.conversation() != root || c.Author.Login != self || !strings.Contains(c.Body, marker)
			}), err
		},
		make: func(ctx context.Context) (ReviewComment, error) {
			return on.Reply(ctx, repo, number, root, body+"\n\n"+marker)
		},
		withdraw: func(ctx context.Context, c ReviewComment) error { return on.WithdrawReply(ctx, repo, c.ID) },
		id:       func(c ReviewComment) int64 { return c.ID },
	}.once(ctx)
	return err
}

// conversation returns the id of the first comment of the conversation.
func (c ReviewComment) conversation() int64 {
	if c.ReplyTo != 0 {
		return c.ReplyTo
	}
	return c.ID
}
