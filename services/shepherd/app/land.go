package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/merge"
)

// land merges the commit that every gate passes on, now and when it was looked
// at before. A draft is ended first, and then everything is read again: that
// may change what the forge demands.
func (t *turn) land(ctx context.Context) (instance.Result, error) {
	if t.world.Draft {
		if err := t.forge.MarkReady(ctx, t.world.Repo, t.world.Number); err != nil {
			return instance.Result{}, err
		}
		again, err := t.look(ctx, t.job)
		if err != nil {
			return instance.Result{}, err
		}
		if !again.ready() || again.world.Draft || again.world.Head != t.world.Head {
			return again.outcome("waiting", "no draft any more, but %s", again.open()), nil
		}
		t = again
	}
	t.job.Progress("merging pull request #%d at %.7s", t.world.Number, t.world.Head)
	_, err := forge.Land(ctx, t.forge, t.world.Repo, t.world.Number, forge.Merge{Head: t.world.Head, Method: t.report.Method})
	if errors.Is(err, forge.ErrHeadMoved) || errors.Is(err, forge.ErrBaseMoved) || errors.Is(err, forge.ErrNotMergeable) {
		return t.outcome("waiting", "the forge did not merge it: %v", err), nil
	}
	if err != nil {
		return instance.Result{}, err
	}
	t, err = t.look(ctx, t.job)
	if err != nil {
		return instance.Result{}, err
	}
	return t.merged(ctx)
}

// merged sees that the pull request is merged, by whomever, and that its base
// has the merge.
func (t *turn) merged(ctx context.Context) (instance.Result, error) {
	if !t.world.Merged {
		return instance.Result{}, fmt.Errorf("%w: #%d was merged, and does not read so", forge.ErrUnavailable, t.world.Number)
	}
	missing, err := t.forge.Behind(ctx, t.world.Repo, t.world.MergeSHA, t.world.BaseRef)
	if err != nil {
		return instance.Result{}, err
	}
	verdict, outcome, says := merge.Pass, "merged", "pull request #%d is merged as %.7s"
	if missing > 0 {
		verdict, outcome, says = merge.Fail, "waiting", "pull request #%d is merged as %.7s, which its base does not have"
	}
	r := done(fmt.Sprintf(says, t.world.Number, t.world.MergeSHA), "outcome", outcome, "merging", "")
	r.Evidence = []instance.Evidence{t.finding("merged", verdict, map[string]string{"sha": t.world.MergeSHA, "base": t.world.BaseRef})}
	return r, nil
}
