package app

import (
	"context"
	"fmt"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/forge/merge"
)

// queued waits for a pull request that is in the merge queue. If a gate no longer passes,
// it takes the pull request out of the queue, unless another account has put it in.
func (t *visit) queued(ctx context.Context) (r instance.Result, done bool, err error) {
	q := t.snapshot.Queued
	if q == nil || q.State == "" {
		return r, false, nil
	}
	if !t.ready() && t.snapshot.QueuedByUs() {
		if err := t.forge.Dequeue(ctx, t.snapshot.Repo, t.snapshot.Number); err != nil && !notNow(err) {
			return r, false, err
		}
		return t.outcome("waiting", "taken out of the merge queue: %s", t.obstacles()), true, nil
	}
	return t.outcome("waiting", "it is number %d in the merge queue of %s", q.Position, t.snapshot.BaseRef), true, nil
}

// enqueue puts the pull request in the merge queue of its base.
func (t *visit) enqueue(ctx context.Context) (instance.Result, error) {
	t.job.Progress("putting pull request #%d at %.7s in the merge queue", t.snapshot.Number, t.snapshot.Head)
	err := t.forge.Enqueue(ctx, t.snapshot.Repo, t.snapshot.Number, t.snapshot.Head)
	if notNow(err) {
		return t.outcome("waiting", "the merge queue did not take it: %v", err), nil
	}
	if err != nil {
		return instance.Result{}, err
	}
	t, err = t.visit(ctx, t.job)
	switch {
	case err != nil:
		return instance.Result{}, err
	case t.snapshot.Merged:
		return t.merged(ctx)
	}
	return t.outcome("waiting", "it is in the merge queue of %s", t.snapshot.BaseRef), nil
}

// unqueued returns the failure of the checks of the merge queue as a red check.
func (t *visit) unqueued() (merge.Check, bool) {
	reason, out := t.snapshot.UnqueuedByChecks()
	return merge.Check{
		Name: "merge queue", Kind: "queue", State: "taken out", At: t.snapshot.ReadAt,
		Note: fmt.Sprintf("together with what is merged before it, it did not pass: %s", reason),
	}, out
}
