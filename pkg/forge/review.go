package forge

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/pkg/merge"
)

// Reviews reads what people said about a pull request.
type Reviews interface {
	// Reviews lists the submitted reviews, oldest first.
	Reviews(ctx context.Context, repo string, number int) ([]Review, error)
	// ReviewComments lists the comments on lines of the change, oldest first.
	ReviewComments(ctx context.Context, repo string, number int) ([]ReviewComment, error)
	// Standing reads what only GitHub's GraphQL tells.
	Standing(ctx context.Context, repo string, number int) (Standing, error)
}

// Members reads who people are.
type Members interface {
	// Account is the one the credentials belong to.
	Account(ctx context.Context) (User, error)
	// Member tells whether the user belongs to the organisation. Whoever may
	// not see its members is told of the public ones only, and that is
	// ErrDenied where the answer is no.
	Member(ctx context.Context, organisation, login string) (bool, error)
}

// Review is a verdict on a pull request.
type Review struct {
	ID     int64
	Author User   // zero when the account is gone
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
	ReplyTo   int64 // the comment it answers; 0 for the first of its thread
	Author    User
	Body      string
	Path      string
	Line      int    // 0 when the line is no longer in the change
	Commit    string // the head it was made on
	URL       string // for people
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Standing is where the conversation stands.
type Standing struct {
	// Decision is APPROVED, CHANGES_REQUESTED or REVIEW_REQUIRED; empty says
	// that no rule demands a review, not that there is one.
	Decision string
	Threads  []Thread
	// Methods are the ways to merge that the repository allows: merge, squash, rebase.
	Methods []string
}

// Thread is a conversation on lines of the change, with the ids of its first
// hundred comments.
type Thread = merge.Thread
