package forge

import (
	"time"

	"github.com/signalbox/signalbox/pkg/forge/merge"
)

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
