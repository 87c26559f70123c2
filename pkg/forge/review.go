package forge

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/pkg/forge/merge"
)

// Reviews reads reviews of and comments on a pull request.
type Reviews interface {
	// Reviews lists the submitted reviews, oldest first.
	Reviews(ctx context.Context, repo string, number int) ([]Review, error)
	// ReviewComments lists the comments on lines of the change, oldest first.
	ReviewComments(ctx context.Context, repo string, number int) ([]ReviewComment, error)
	// ReviewState reads the parts that only GitHub's GraphQL has.
	ReviewState(ctx context.Context, repo string, number int) (ReviewState, error)
	// Queued reads how the pull request stands in the merge queue of its base, from GraphQL, too.
	Queued(ctx context.Context, repo string, number int) (merge.Queued, error)
}

// Members reads accounts and memberships.
type Members interface {
	// Account returns the account of the credentials.
	Account(ctx context.Context) (User, error)
	// Member reports whether the user is a member of the organisation. It fails with
	// ErrDenied if the credentials may see only public members and the user is none.
	Member(ctx context.Context, organisation, login string) (bool, error)
}

// Review is a review of a pull request.
type Review struct {
	ID     int64
	Author User   // zero if the account is deleted
	State  string // APPROVED, CHANGES_REQUESTED, COMMENTED or DISMISSED
	Commit string // the head it was made on
	Body   string
	URL    string // for people
	At     time.Time
}

// ReviewComment is a comment on lines of the change.
type ReviewComment struct {
	ID        int64
	Review    int64 // the review it came with
	ReplyTo   int64 // the comment it replies to; 0 for the first of its thread
	Author    User
	Body      string
	Path      string
	Line      int    // 0 if the line is no longer in the change
	Commit    string // the head it was made on
	URL       string // for people
	CreatedAt time.Time
	UpdatedAt time.Time
}

// ReviewState is the conversations and the decision on a pull request.
type ReviewState struct {
	// Decision is APPROVED, CHANGES_REQUESTED or REVIEW_REQUIRED, "" if no rule demands a
	// review.
	Decision string
	Threads  []Thread
	// Methods are the merge methods that the repository allows: merge, squash, rebase.
	Methods []string
	// Retargeted is when the pull request got its present base; zero if it was opened with it.
	Retargeted time.Time
}

// Thread is a conversation on lines of the change, with the ids of its first
// hundred comments.
type Thread = merge.Thread

// Responder replies to reviewers. Every method is one effect.
type Responder interface {
	// Reply replies in the conversation on lines of the change that starts with the comment.
	Reply(ctx context.Context, repo string, number int, comment int64, body string) (ReviewComment, error)
	// WithdrawReply deletes a reply of our own. It fails with ErrNotFound if there is none.
	WithdrawReply(ctx context.Context, repo string, comment int64) error
	// Resolve resolves a conversation. It changes nothing if that is resolved.
	Resolve(ctx context.Context, repo, thread string) error
}
