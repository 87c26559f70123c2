package forge

import (
	"context"
	"errors"
	"fmt"
)

// Lander is what Land works with.
type Lander interface {
	PullRequest(ctx context.Context, repo string, number int) (PullRequest, error)
	Merge(ctx context.Context, repo string, number int, in Merge) (sha string, err error)
}

// Land merges, and reads back what became of it: a merge whose answer was lost
// is found to have happened, and one that was answered is seen to be there. It
// returns the commit the pull request is merged as. After ErrUnavailable it is
// still not known; calling again is safe, since only the head given is merged,
// and once.
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
	return "", fmt.Errorf("%w: %s#%d was answered to be merged as %s, but reads merged=%t as %q", ErrUnavailable, repo, number, sha, pr.Merged, pr.MergeSHA)
}
