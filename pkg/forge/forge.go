// Package forge reads and writes a code host. Roles other than the gateway,
// pm, committer, git-manager and shepherd never import it.
package forge

import (
	"errors"
	"fmt"
	"time"
)

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
	Blocked   int // how many open issues the forge has down as blocking it
}

// Comment is a comment on an issue.
type Comment struct {
	ID        int64
	NodeID    string
	Body      string
	Author    User
	URL       string
	CreatedAt time.Time
	UpdatedAt time.Time
	On        int // the number of the issue or pull request
}

// User is an account. Compare by ID: logins change.
type User struct {
	ID    int64
	Login string
	Bot   bool
}

// PullRequest is a proposed change. Mergeable is nil while the forge computes it, and in
// lists.
type PullRequest struct {
	Number         int
	NodeID         string
	Title          string
	Body           string
	State          string // open or closed
	Draft          bool
	Merged         bool
	MergeSHA       string // the commit it is merged as; "" before
	Mergeable      *bool  // there is no conflict; says nothing of rules
	MergeableState string // clean, has_hooks, unstable, blocked, behind, dirty, draft or unknown
	Labels         []string
	Requested      []int64 // ids of the people whose review is requested now
	HeadRef        string
	HeadSHA        string
	HeadRepo       string // owner/name; "" if the fork is deleted
	BaseRef        string
	BaseSHA        string
	Author         User
	URL            string // for people
	CreatedAt      time.Time
	UpdatedAt      time.Time
}

// Repository is a repository of code.
type Repository struct {
	Name          string // owner/name
	DefaultBranch string
	CloneURL      string
}

// Listed is a repository as lists of the forge have it.
type Listed struct {
	ID       int64  // stays when it is renamed
	Name     string // owner/name, of this moment
	Archived bool   // nothing in it can be changed
}

// Reaction is a mark on a comment, by GitHub's name.
type Reaction string

// The reactions that are used.
const (
	Eyes     Reaction = "eyes"
	Rocket   Reaction = "rocket"
	Confused Reaction = "confused"
)

// NewIssue is an issue to be created.
type NewIssue struct {
	Title, Body string
	Labels      []string
}

// NewPullRequest is a pull request to be created.
type NewPullRequest struct {
	Title, Body string
	Head, Base  string // branches
	Draft       bool
	Closes      int // the issue that the text may close; 0: none
}

// The errors that callers branch on. Adapters wrap the forge's own text. A rate limit is
// a *RateLimit, which has the time of its end.
var (
	ErrNotFound = errors.New("not found on the forge")
	ErrDenied   = errors.New("the forge denies it")
	// ErrUnauthenticated is an ErrDenied of credentials that the forge does not take at all.
	ErrUnauthenticated = fmt.Errorf("%w, for it does not take the credentials", ErrDenied)
	ErrRateLimited     = errors.New("the forge's rate limit is reached")
	ErrUnavailable     = errors.New("the forge does not answer")
	ErrInvalid         = errors.New("the forge refuses the content")
	// The three refusals of a merge. After each the caller reads everything again.
	ErrHeadMoved    = errors.New("the head is another commit than the one to merge")
	ErrBaseMoved    = errors.New("the base branch has just moved")
	ErrNotMergeable = errors.New("the forge does not merge it")
)

// RateLimit is an ErrRateLimited with the time of its end. The caller waits for that: no
// adapter sleeps that long.
type RateLimit struct {
	Until   time.Time // zero if the forge does not say
	Message string    // the forge's own text
}

func (e *RateLimit) Error() string {
	until := "an unknown time"
	if !e.Until.IsZero() {
		until = e.Until.UTC().Format(time.RFC3339)
	}
	return fmt.Sprintf("%v until %s: %s", ErrRateLimited, until, e.Message)
}

// Unwrap returns ErrRateLimited.
func (e *RateLimit) Unwrap() error { return ErrRateLimited }
