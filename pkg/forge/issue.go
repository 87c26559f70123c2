package forge

import (
	"context"
	"slices"
	"strings"
)

// Reporter is what Report works with.
type Reporter interface {
	Closer
	Self(ctx context.Context) (string, error)
	IssuesBy(ctx context.Context, repo, login string) ([]Issue, error)
	CreateIssue(ctx context.Context, repo string, in NewIssue) (Issue, error)
}

// Report opens an issue unless there is one of our own with the marker, open or closed,
// however old it is: after a restore the log does not know it. Of several, which two processes
// may open at the same time, the oldest stays; the others are closed.
func Report(ctx context.Context, on Reporter, repo, marker string, in NewIssue) (Issue, error) {
	self, err := on.Self(ctx)
	if err != nil {
		return Issue{}, err
	}
	in.Body += "\n\n" + marker
	return effect[Issue]{
		look: func(ctx context.Context) ([]Issue, error) {
			all, err := on.IssuesBy(ctx, repo, self)
			return slices.DeleteFunc(all, func(i Issue) bool {
				return i.Author.Login != self || !strings.Contains(i.Body, marker)
			}), err
		},
		make: func(ctx context.Context) (Issue, error) { return on.CreateIssue(ctx, repo, in) },
		withdraw: func(ctx context.Context, i Issue) error {
			if i.State == "closed" {
				return nil
			}
			return on.CloseIssue(ctx, repo, i.Number)
		},
		id: func(i Issue) int64 { return int64(i.Number) },
	}.once(ctx)
}
