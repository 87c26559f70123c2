package forge

import (
	"context"
	"errors"
	"fmt"
)

// Merge is how a pull request is to be merged.
type Merge struct {
	Head   string // the commit that was assessed
	Method string // merge, squash or rebase
	// Title and Body are the message of the commit; "" for the message of the forge.
	Title, Body string
}

// Lander is what Land works with.
type Lander interface {
	PullRequest(ctx context.Context, repo string, number int) (PullRequest, error)
	Merge(ctx context.Context, repo string, number int, in Merge) (sha string, err error)
}

// Land merges the pull request and returns the commit it is merged as. It reads back, so
// it finds a merge whose answer was lost. After ErrUnavailable the outcome is unknown.
// Calling Land again is safe: the forge merges only the given head, once.
func Land(ctx context.Context, on Lander, repo string, number int, in Merge) (string, error) {
	sha, merging := on.Merge(ctx, repo, number, in)
	if merging != nil && !errors.Is(merging, ErrUnavailable) && !errors.Is(merging, ErrNotMergeable) {
		return "", merging
	}
	pr, err := on.PullRequest(ctx, repo, number)
	switch {
	case err != nil:
		return "", fmt.Errorf("%w: whether %s#%d is merged is not known: %w", ErrUnavailable, repo, number, errors.Join(merging, err))
	case pr.Merged && pr.HeadSHA == in.Head && (merging != nil || pr.MergeSHA == sha):
		return pr.MergeSHA, nil
	case merging != nil:
		return "", merging
	}
	return "", fmt.Errorf("%w: %s#%d was answered to be merged as %s, but reads merged=%t as %q", ErrUnavailable, repo, number, sha,
		pr.Merged, pr.MergeSHA)
}
