package github_test

import (
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/localforge"
)

func TestDraftIsMarkedReadyAndMerged(t *testing.T) {
	w := newEnv(t)
	ctx := t.Context()
	rob := w.client(t, "rob-token")
	var merger forge.Merger = rob
	pr := w.propose(t, forge.NewPullRequest{Draft: true})
	in := forge.Merge{Head: pr.HeadSHA, Method: "squash", Title: "Fix it all", Body: "At last."}
	if !pr.Draft || pr.HeadRepo != repo || pr.MergeSHA != "" {
		t.Errorf("pull request = %+v", pr)
	}
	if _, err := merger.Merge(ctx, repo, 1, in); !errors.Is(err, forge.ErrNotMergeable) || !strings.Contains(err.Error(), "still a draft") {
		t.Errorf("merging a draft: %v", err)
	}
	for range 2 {
		must(t, merger.MarkReady(ctx, repo, 1))
	}
	sha, err := merger.Merge(ctx, repo, 1, in)
	must(t, err)
	got, err := rob.PullRequest(ctx, repo, 1)
	must(t, err)
	if got.Draft || !got.Merged || got.MergeSHA != sha || got.State != "closed" {
		t.Errorf("pull request = %+v, merged as %s", got, sha)
	}
	if err := merger.MarkReady(ctx, repo, 9); !errors.Is(err, forge.ErrNotFound) {
		t.Errorf("marking what is none: %v", err)
	}
}

func TestWhereThereAreNoDraftsAPullRequestIsOpenedAsNone(t *testing.T) {
	w := newEnv(t, func(c *localforge.Config) { c.NoDrafts = true })
	pr := w.propose(t, forge.NewPullRequest{Draft: true})
	if pr.Draft || pr.Number != 1 || pr.State != "open" {
		t.Errorf("pull request = %+v", pr)
	}
}

func TestMergeRefusedIsToldApart(t *testing.T) {
	w := newEnv(t)
	ctx := t.Context()
	rob := w.client(t, "rob-token")
	pr := w.propose(t, forge.NewPullRequest{})
	newer := w.push(t, "ada-token", "fix/it", "a.txt", "one\n")
	in := func(head, method string) forge.Merge { return forge.Merge{Head: head, Method: method} }
	for _, tc := range []struct {
		what string
		err  error
		want error
		text string
	}{
		{"another head", second(rob.Merge(ctx, repo, 1, in(pr.HeadSHA, "squash"))), forge.ErrHeadMoved, "409 Head branch was modified"},
		{"no head", second(rob.Merge(ctx, repo, 1, in("", "squash"))), forge.ErrInvalid, "name the head"},
		{"no method", second(rob.Merge(ctx, repo, 1, in(newer, ""))), forge.ErrInvalid, "method"},
		{"a method that is none", second(rob.Merge(ctx, repo, 1, in(newer, "octopus"))), forge.ErrInvalid, "merge_method"},
		{"no permission", second(w.client(t, "max-token").Merge(ctx, repo, 1, in(newer, "squash"))), forge.ErrDenied, "403"},
		{"nothing", second(rob.Merge(ctx, repo, 9, in(newer, "squash"))), forge.ErrNotFound, "404"},
		{"an update of another head", rob.UpdateBranch(ctx, repo, 1, pr.HeadSHA), forge.ErrHeadMoved, "expected head sha"},
	} {
		if !errors.Is(tc.err, tc.want) || !strings.Contains(tc.err.Error(), tc.text) {
			t.Errorf("%s: %v, want %v with %q", tc.what, tc.err, tc.want, tc.text)
		}
	}
	must(t, rob.UpdateBranch(ctx, repo, 1, newer)) // nothing new on the base
	w.push(t, "ada-token", "main", "a.txt", "another\n")
	if err := rob.UpdateBranch(ctx, repo, 1, newer); !errors.Is(err, forge.ErrNotMergeable) {
		t.Errorf("updating into a conflict: %v", err)
	}
	if _, err := rob.Merge(ctx, repo, 1, in(newer, "squash")); !errors.Is(err, forge.ErrNotMergeable) || !strings.Contains(err.Error(), "conflict") {
		t.Errorf("merging a conflict: %v", err)
	}
	w.push(t, "ada-token", "main", "a.txt", "one\n")
	must(t, rob.UpdateBranch(ctx, repo, 1, newer))
	got, err := rob.PullRequest(ctx, repo, 1)
	must(t, err)
	if got.HeadSHA == newer {
		t.Error("the branch was not updated")
	}
}

func TestBaseThatMovesIsToldApart(t *testing.T) {
	_, err := answering(t, 405, nil, `{"message":"Base branch was modified. Review and try the merge again."}`).Merge(t.Context(), repo, 1, forge.Merge{Head: "x", Method: "squash"})
	if !errors.Is(err, forge.ErrBaseMoved) || errors.Is(err, forge.ErrNotMergeable) {
		t.Errorf("err = %v", err)
	}
	_, err = answering(t, 405, nil, `{"message":"Merge already in progress"}`).Merge(t.Context(), repo, 1, forge.Merge{Head: "x", Method: "squash"})
	if !errors.Is(err, forge.ErrUnavailable) {
		t.Errorf("err = %v", err)
	}
}

// TestMergeWhoseAnswerIsLostIsFound merges once, whatever is lost.
func TestMergeWhoseAnswerIsLostIsFound(t *testing.T) {
	for _, status := range []int{0, http.StatusBadGateway} {
		var merges, after atomic.Int64
		after.Store(1)
		w := newEnv(t, func(c *localforge.Config) {
			c.Fault = func(r *http.Request) *localforge.Fault {
				if !strings.HasSuffix(r.URL.Path, "/merge") {
					return nil
				}
				merges.Add(1)
				if after.CompareAndSwap(1, 0) {
					return &localforge.Fault{After: true, Status: status}
				}
				return nil
			}
		})
		rob := w.client(t, "rob-token")
		pr := w.propose(t, forge.NewPullRequest{})
		in := forge.Merge{Head: pr.HeadSHA, Method: "squash"}
		sha, err := forge.Land(t.Context(), rob, repo, 1, in)
		must(t, err)
		got, err := rob.PullRequest(t.Context(), repo, 1)
		must(t, err)
		if !got.Merged || got.MergeSHA != sha || merges.Load() != 1 {
			t.Errorf("%d merges, landed as %s: %+v", merges.Load(), sha, got)
		}
		if again, err := forge.Land(t.Context(), rob, repo, 1, in); err != nil || again != sha {
			t.Errorf("landing again: %s, %v", again, err)
		}
		if _, err := forge.Land(t.Context(), rob, repo, 1, forge.Merge{Head: pr.BaseSHA, Method: "squash"}); err == nil {
			t.Error("another head has landed")
		}
	}
}

func TestMergeThatNeverHappenedHasNotLanded(t *testing.T) {
	w := newEnv(t, func(c *localforge.Config) {
		c.Fault = func(r *http.Request) *localforge.Fault {
			if strings.HasSuffix(r.URL.Path, "/merge") {
				return &localforge.Fault{Status: http.StatusBadGateway}
			}
			return nil
		}
	})
	pr := w.propose(t, forge.NewPullRequest{})
	_, err := forge.Land(t.Context(), w.client(t, "rob-token"), repo, 1, forge.Merge{Head: pr.HeadSHA, Method: "squash"})
	if !errors.Is(err, forge.ErrUnavailable) {
		t.Errorf("err = %v", err)
	}
}
