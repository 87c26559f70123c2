package forge

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// refusing is a forge that refuses pull requests for a while.
type refusing struct {
	until time.Time // when it knows the branch
	shows time.Time // when its lists show another person's; zero: there is none
	tries int
}

func (f *refusing) PullRequestByHead(context.Context, string, string) (PullRequest, error) {
	if f.shows.IsZero() || time.Now().Before(f.shows) {
		return PullRequest{}, ErrNotFound
	}
	return PullRequest{Number: 7}, nil
}

func (f *refusing) PullRequestsByHead(context.Context, string, string) ([]PullRequest, error) {
	return nil, nil
}

func (f *refusing) CreatePullRequest(context.Context, string, NewPullRequest) (PullRequest, error) {
	if f.tries++; time.Now().Before(f.until) {
		return PullRequest{}, fmt.Errorf("%w: try %d", ErrInvalid, f.tries)
	}
	return PullRequest{Number: 8}, nil
}

func TestARefusedPullRequestIsLookedForAndTriedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		knows, shows time.Duration // until
		want         int           // the number, 0: it is refused for good
		tries        int
	}{
		"until the forge knows the branch":               {knows: 2 * time.Second, want: 8, tries: 3},
		"unless there is one, which is used":             {knows: time.Hour, shows: 500 * time.Millisecond, want: 7, tries: 1},
		"which may show after some tries":                {knows: time.Hour, shows: 4 * time.Second, want: 7, tries: 3},
		"a few times, and then it is ErrInvalid":         {knows: time.Hour, tries: 4},
		"and one that is not refused is not tried again": {want: 8, tries: 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				on := &refusing{until: time.Now().Add(c.knows)}
				if c.shows > 0 {
					on.shows = time.Now().Add(c.shows)
				}
				pr, err := Propose(t.Context(), on, Proposal{
					Ours: func(PullRequest) bool { return true }, Describe: func() (NewPullRequest, error) { return NewPullRequest{}, nil },
				})
				if pr.Number != c.want || (c.want == 0) != errors.Is(err, ErrInvalid) || on.tries != c.tries {
					t.Errorf("it is #%d, %v, after %d tries; want #%d after %d", pr.Number, err, on.tries, c.want, c.tries)
				}
			})
		})
	}
}
