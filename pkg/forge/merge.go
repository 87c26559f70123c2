package forge

import (
	"context"
	"errors"
	"fmt"
)

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
