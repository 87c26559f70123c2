// Package forge reads and writes a code host. Roles other than the gateway,
// pm, committer, git-manager and shepherd never import it.
package forge

import (
	"context"
	"errors"
	"time"
)

// Reader is the reading half.
type Reader interface {
	// Issues lists the open issues (never pull requests) changed at or after the
	// given time, the one changed longest ago first.
	Issues(ctx context.Context, repo string, since time.Time) ([]Issue, error)
	Issue(ctx context.Context, repo string, number int) (Issue, error)
	// Comments lists the issue's comments, oldest first, those changed at or after the given time.
	Comments(ctx context.Context, repo string, number int, since time.Time) ([]Comment, error)
	// Permission is the user's permission on the repository: admin, maintain, write, triage, read or none.
	Permission(ctx context.Context, repo, user string) (string, error)
	// PullRequestByHead finds the newest open pull request whose head is the branch; ErrNotFound if there is none.
	PullRequestByHead(ctx context.Context, repo, branch string) (PullRequest, error)
	PullRequest(ctx context.Context, repo string, number int) (PullRequest, error)
	// Repository tells the default branch and where to clone from.
	Repository(ctx context.Context, repo string) (Repository, error)
	// Self is the login the credentials belong to.
	Self(ctx context.Context) (string, error)
}

// Writer is the writing half. Every method is one effect; making an effect
// idempotent (marker, author check, read back) is the caller's.
type Writer interface {
	CreateIssue(ctx context.Context, repo string, in NewIssue) (Issue, error)
	Comment(ctx context.Context, repo string, number int, body string) (Comment, error)
	EditComment(ctx context.Context, repo string, id int64, body string) (Comment, error)
	// WithdrawComment takes an own one back; one that is gone is ErrNotFound.
	WithdrawComment(ctx context.Context, repo string, id int64) error
	AddLabels(ctx context.Context, repo string, number int, labels []string) error
	RemoveLabel(ctx context.Context, repo string, number int, label string) error
	CreatePullRequest(ctx context.Context, repo string, in NewPullRequest) (PullRequest, error)
}

// Issue is a report on the forge.
type Issue struct {
	Repo      string
	Number    int
	NodeID    string
	Title     string
	Body      string
	State     string // open or closed
	Locked    bool
	Labels    []string
	Author    User
	URL       string // for people
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Comment is a comment on an issue.
type Comment struct {
	ID        int64
	Body      string
	Author    User
	URL       string
	CreatedAt time.Time
	UpdatedAt time.Time
}

// User is an account. Compare by ID: logins change.
type User struct {
	ID    int64
	Login string
	Bot   bool
}

// PullRequest is a proposed change. Mergeable is nil while the forge computes
// it; lists do not say it at all.
type PullRequest struct {
	Number         int
	NodeID         string
	Title          string
	Body           string
	State          string // open or closed
	Draft          bool
	Merged         bool
	MergeSHA       string // the commit it is merged as; empty before
	Mergeable      *bool  // nothing but that there is no conflict
	MergeableState string // clean, has_hooks, unstable, blocked, behind, dirty, draft or unknown
	Labels         []string
	HeadRef        string
	HeadSHA        string
	HeadRepo       string // owner/name; empty when the fork is gone
	BaseRef        string
	BaseSHA        string
	Author         User
	URL            string // for people
	CreatedAt      time.Time
	UpdatedAt      time.Time
}

// Repository is where the code is.
type Repository struct {
	Name          string // owner/name
	DefaultBranch string
	CloneURL      string
}

// NewIssue is an issue to be made.
type NewIssue struct {
	Title, Body string
	Labels      []string
}

// NewPullRequest is a pull request to be made.
type NewPullRequest struct {
	Title, Body string
	Head, Base  string // branches
	Draft       bool
}

// Errors a caller branches on. Adapters wrap the forge's own text; a limit
// comes as a *RateLimit, which knows its end.
var (
	ErrNotFound    = errors.New("not found on the forge")
	ErrDenied      = errors.New("the forge denies it")
	ErrRateLimited = errors.New("the forge's rate limit is reached")
	ErrUnavailable = errors.New("the forge does not answer")
	ErrInvalid     = errors.New("the forge refuses the content")
	// The three ways a merge is refused: all three mean to read everything again.
	ErrHeadMoved    = errors.New("the head is another commit than the one to merge")
	ErrBaseMoved    = errors.New("the base branch has just moved")
	ErrNotMergeable = errors.New("the forge does not merge it")
)
