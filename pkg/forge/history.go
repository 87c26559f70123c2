package forge

import (
	"context"
	"time"
)

// History reads what happened to closed issues, pull requests and branches.
type History interface {
	// PullRequests lists the pull requests in any state that changed at or after the time,
	// the one that changed longest ago first.
	PullRequests(ctx context.Context, repo string, since time.Time) ([]PullRequest, error)
	// PullRequestsByHead lists the pull requests in any state from the branch of the repository
	// itself, newest first.
	PullRequestsByHead(ctx context.Context, repo, branch string) ([]PullRequest, error)
	// Closed lists the closed issues (never pull requests) that changed at or after the
	// time, the one that changed longest ago first.
	Closed(ctx context.Context, repo string, since time.Time) ([]Issue, error)
	// Mentions lists the pull requests of the repository that mention the issue,
	// by number.
	Mentions(ctx context.Context, repo string, issue int) ([]Mention, error)
	// Pushes lists the moves of the branch, newest first, at most a hundred.
	Pushes(ctx context.Context, repo, branch string) ([]Push, error)
	// Commits lists the commits of the pull request, oldest first, 250 at most.
	Commits(ctx context.Context, repo string, number int) ([]Commit, error)
}

// Mention is a pull request that mentions an issue.
type Mention struct {
	Number int
	Closes bool   // merging it closes the issue
	State  string // open, closed or merged
	Author User
	URL    string // for people
}

// Push is a move of a branch.
type Push struct {
	Before, After string // commits; zeros where there was or is none
	Kind          string // push, force_push, branch_creation, branch_deletion, pr_merge or merge_queue_merge
	Actor         User   // zero if the account is deleted
	At            time.Time
}

// Commit is a commit of a pull request. Author and committer are zero if no account has
// their mail address.
type Commit struct {
	SHA       string
	Subject   string
	Author    User
	Committer User
	At        time.Time // of the committer's clock
	Parents   []string
}
