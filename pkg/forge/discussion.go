package forge

import (
	"context"
	"time"
)

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

// Depending tells which issues the forge has down as blocking another.
type Depending interface {
	// BlockedBy lists them, open and closed. Repo of each is where it is.
	BlockedBy(ctx context.Context, repo string, number int) ([]Issue, error)
}

// Renaming tells who gave an issue its title.
type Renaming interface {
	// Renamer returns the account that gave the issue the title that it has, the zero User if it
	// has its first one. If that account is deleted the error is ErrNotFound.
	Renamer(ctx context.Context, repo string, number int) (User, error)
}

// Reaction is a mark on a comment, by GitHub's name.
type Reaction string

// The reactions that are used.
const (
	Eyes     Reaction = "eyes"
	Rocket   Reaction = "rocket"
	Confused Reaction = "confused"
)
