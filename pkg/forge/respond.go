package forge

import "context"

// Responder answers reviewers. Every method is one effect.
type Responder interface {
	// Reply answers a conversation on lines of the change, by its first comment.
	Reply(ctx context.Context, repo string, number int, comment int64, body string) (ReviewComment, error)
	// WithdrawReply takes an own one back; one that is gone is ErrNotFound.
	WithdrawReply(ctx context.Context, repo string, comment int64) error
	// Resolve ends a conversation; one that has ended stays as it is.
	Resolve(ctx context.Context, thread string) error
}
