package forge

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/pkg/forge/merge"
)

// This file has all that Signalbox asks of a code host: reads first, then writes. Each
// interface is one concern, and callers take those that they need; pkg/forge/github implements
// them all. The values are in the files of their subjects, the errors in forge.go.

// Reader reads issues, comments, pull requests and repositories.
type Reader interface {
	// Issues lists the open issues (never pull requests) changed at or after the
	// given time, the one changed longest ago first.
	Issues(ctx context.Context, repo string, since time.Time) ([]Issue, error)
	// IssuesBy lists the issues (never pull requests) that the user opened, open and closed,
	// the one changed longest ago first.
	IssuesBy(ctx context.Context, repo, login string) ([]Issue, error)
	Issue(ctx context.Context, repo string, number int) (Issue, error)
	// Comments lists the issue's comments, oldest first, those changed at or after the given time.
	Comments(ctx context.Context, repo string, number int, since time.Time) ([]Comment, error)
	// Permission is the user's permission on the repository: admin, maintain, write, triage, read or none.
	Permission(ctx context.Context, repo, user string) (string, error)
	// LabelSetter is the login of who set the label that the issue has; ErrNotFound if it has
	// not, or the forge does not say.
	LabelSetter(ctx context.Context, repo string, number int, label string) (string, error)
	// PullRequestByHead finds the newest open pull request whose head is the branch; ErrNotFound if there is none.
	PullRequestByHead(ctx context.Context, repo, branch string) (PullRequest, error)
	PullRequest(ctx context.Context, repo string, number int) (PullRequest, error)
	// Repository returns the default branch and the URL to clone from.
	Repository(ctx context.Context, repo string) (Repository, error)
	// Self returns the login of the credentials.
	Self(ctx context.Context) (string, error)
}

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

// Contents reads files of a repository.
type Contents interface {
	// Newest returns the newest commit of the default branch; ErrNotFound if there is no such
	// repository, or nothing in it.
	Newest(ctx context.Context, repo string) (commit string, err error)
	// Files lists the names of the files in a directory at a commit, without links; none if
	// there is no such directory.
	Files(ctx context.Context, repo, commit, dir string) ([]string, error)
	// File reads a file at a commit.
	File(ctx context.Context, repo, commit, path string) ([]byte, error)
}

// Lister lists repositories.
type Lister interface {
	// WorksAsApp reports whether the credentials are those of an App.
	WorksAsApp() bool
	// InstalledOn lists what the App is installed on, of all owners. Suspended installations
	// have nothing.
	InstalledOn(ctx context.Context) ([]Listed, error)
	// OwnedBy lists the owner's repositories that the credentials may write to. An unknown
	// owner is ErrNotFound.
	OwnedBy(ctx context.Context, owner string) ([]Listed, error)
	// Named finds a repository by its name, or by one that it had before.
	Named(ctx context.Context, repo string) (Listed, error)
}

// Discussion is what is said on the issues and pull requests of a repository, and marks
// on it.
type Discussion interface {
	// Discussed lists the comments on all issues and pull requests that changed at or after
	// the time, the one made first first.
	Discussed(ctx context.Context, repo string, since time.Time) ([]Comment, error)
	// React adds a reaction of our own to a comment. One that is there stays. If the comment
	// is deleted the error is ErrNotFound.
	React(ctx context.Context, repo string, comment int64, with Reaction) error
}

// Editing tells who edited what people wrote.
type Editing interface {
	// Editor returns the account that edited the text of an issue or of a comment last, by the
	// node id of that. It is the zero User if nobody did. An edit of a title is none.
	Editor(ctx context.Context, repo, node string) (User, error)
}

// Renaming tells who gave an issue its title.
type Renaming interface {
	// Renamer returns the account that gave the issue the title that it has, the zero User if it
	// has its first one. If that account is deleted the error is ErrNotFound.
	Renamer(ctx context.Context, repo string, number int) (User, error)
}

// Depending tells which issues the forge has down as blocking another.
type Depending interface {
	// BlockedBy lists them, open and closed. Repo of each is where it is.
	BlockedBy(ctx context.Context, repo string, number int) ([]Issue, error)
}

// Writer writes issues, comments and pull requests. Every method is one effect. The
// caller makes it idempotent, by a marker, a check of the author and reading back.
type Writer interface {
	CreateIssue(ctx context.Context, repo string, in NewIssue) (Issue, error)
	Comment(ctx context.Context, repo string, number int, body string) (Comment, error)
	EditComment(ctx context.Context, repo string, id int64, body string) (Comment, error)
	// WithdrawComment deletes a comment of our own. It fails with ErrNotFound if there is none.
	WithdrawComment(ctx context.Context, repo string, id int64) error
	AddLabels(ctx context.Context, repo string, number int, labels []string) error
	RemoveLabel(ctx context.Context, repo string, number int, label string) error
	CreatePullRequest(ctx context.Context, repo string, in NewPullRequest) (PullRequest, error)
}

// Closer closes issues.
type Closer interface {
	// CloseIssue closes an issue as not planned. It changes nothing if it is closed.
	CloseIssue(ctx context.Context, repo string, number int) error
}

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

// Responder replies to reviewers. Every method is one effect.
type Responder interface {
	// Reply replies in the conversation on lines of the change that starts with the comment.
	Reply(ctx context.Context, repo string, number int, comment int64, body string) (ReviewComment, error)
	// WithdrawReply deletes a reply of our own. It fails with ErrNotFound if there is none.
	WithdrawReply(ctx context.Context, repo string, comment int64) error
	// Resolve resolves a conversation. It changes nothing if that is resolved.
	Resolve(ctx context.Context, repo, thread string) error
}

// Checks reads the checks of a commit and what its target branch demands.
type Checks interface {
	// Statuses lists the newest status of every context on the commit.
	Statuses(ctx context.Context, repo, sha string) ([]Status, error)
	// CheckRuns lists the newest run of every check in each of the suites on the commit.
	CheckRuns(ctx context.Context, repo, sha string) ([]CheckRun, error)
	// Protection reads what the branch demands of a merge, by rulesets and by classic
	// protection.
	Protection(ctx context.Context, repo, branch string) (Protection, error)
	// Behind counts the commits of the base branch that the head does not have.
	Behind(ctx context.Context, repo, base, head string) (int, error)
}

// Failures reads why checks failed.
type Failures interface {
	// Failure reads what the forge knows of why the run of a check failed. Parts that may not
	// be read, or are gone, are left out.
	Failure(ctx context.Context, repo string, run int64) (Failure, error)
}

// Publisher publishes checks of our own.
type Publisher interface {
	// PublishCheck creates a completed run of a check on a commit or, if id is not 0, edits
	// that run, and returns its id. It fails with ErrDenied unless the credentials are an
	// App's.
	PublishCheck(ctx context.Context, repo string, id int64, run NewCheckRun) (int64, error)
}

// Merger changes a pull request. Every method is one effect.
type Merger interface {
	// MarkReady ends the draft. It changes nothing if the pull request is no draft.
	MarkReady(ctx context.Context, repo string, number int) error
	// UpdateBranch makes the forge merge the base into the head, if the head is still at
	// the commit (ErrHeadMoved). The forge moves the head after it has answered.
	UpdateBranch(ctx context.Context, repo string, number int, head string) error
	// Merge merges only the given head and returns the commit it is merged as. Refusals
	// are ErrHeadMoved, ErrBaseMoved and ErrNotMergeable. After ErrUnavailable the merge may
	// have happened: see Land.
	Merge(ctx context.Context, repo string, number int, in Merge) (sha string, err error)
	// Enqueue puts the given head (ErrHeadMoved) in the merge queue of the base, which merges
	// it when its checks pass there. It changes nothing if the pull request is in the queue.
	// ErrNotMergeable means that the forge does not take it.
	Enqueue(ctx context.Context, repo string, number int, head string) error
	// Dequeue takes the pull request out of the merge queue. It changes nothing if it is in none.
	Dequeue(ctx context.Context, repo string, number int) error
}
