package forge

import (
	"context"
	"errors"
	"slices"
	"time"
)

// Proposer is what Propose works with.
type Proposer interface {
	PullRequestByHead(ctx context.Context, repo, branch string) (PullRequest, error)
	PullRequestsByHead(ctx context.Context, repo, branch string) ([]PullRequest, error)
	CreatePullRequest(ctx context.Context, repo string, in NewPullRequest) (PullRequest, error)
}

// Proposal is a pull request that must exist once.
type Proposal struct {
	Repo, Branch string
	// Ours recognises one that is closed: people may close or merge it before its creation is
	// known. It is asked about pull requests from the branch alone.
	Ours func(PullRequest) bool
	// Describe returns its texts, if it has to be created.
	Describe func() (NewPullRequest, error)
}

// Propose finds the pull request from the branch, or opens it. It returns an open one of any
// author: a forge has at most one from a branch to another. A forge may refuse one for a
// while. There is a second one that no list shows yet, or the forge does not know the pushed
// branch yet. So Propose looks and tries again before it returns ErrInvalid.
func Propose(ctx context.Context, on Proposer, p Proposal) (PullRequest, error) {
	pr, err := on.PullRequestByHead(ctx, p.Repo, p.Branch)
	if !errors.Is(err, ErrNotFound) {
		return pr, err
	}
	all, err := on.PullRequestsByHead(ctx, p.Repo, p.Branch)
	if err != nil {
		return pr, err
	}
	if i := slices.IndexFunc(all, p.Ours); i >= 0 {
		return all[i], nil
	}
	in, err := p.Describe()
	if err != nil {
		return pr, err
	}
	in.Head = p.Branch
	pr, err = on.CreatePullRequest(ctx, p.Repo, in)
	if !errors.Is(err, ErrInvalid) {
		return pr, err
	}
	tried := time.Now()
	there := effect[PullRequest]{look: func(ctx context.Context) ([]PullRequest, error) {
		pr, looked := on.PullRequestByHead(ctx, p.Repo, p.Branch)
		if errors.Is(looked, ErrNotFound) && time.Since(tried) >= betweenTries {
			if pr, looked = on.CreatePullRequest(ctx, p.Repo, in); errors.Is(looked, ErrInvalid) {
				err = looked
			}
			tried = time.Now()
		}
		return []PullRequest{pr}, looked
	}}.seen(ctx, func(PullRequest) bool { return true })
	if len(there) == 0 {
		return pr, err
	}
	return there[0], nil
}

// betweenTries is how long after a refusal a pull request is tried to be opened again. A
// forge asks for a second between writes.
const betweenTries = time.Second
