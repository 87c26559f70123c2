package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/signalbox/signalbox/pkg/base/sanitize"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
	"github.com/signalbox/signalbox/pkg/forge/merge"
)

// land merges the commit on which every gate passes in this visit and passed in the one
// before. Without the policy auto_merge a person says so first.
func (t *visit) land(ctx context.Context) (r instance.Result, done bool, err error) {
	switch {
	case !t.ready():
		return r, false, nil
	case !t.job.yes("auto_merge") && t.job.Vars["merge_at"] != t.snapshot.Head:
		return t.outcome("unmerged", "it is ready, and merged when a person says so"), true, nil
	case t.job.Vars["merging"] != t.snapshot.Head:
		return forgeside.WithData(t.outcome("ready", "every gate passes on %.7s", t.snapshot.Head), "merging", t.snapshot.Head), true, nil
	}
	r, err = t.merge(ctx)
	return r, true, err
}

// merge ends a draft first and then observes again: that may change what the forge demands.
func (t *visit) merge(ctx context.Context) (instance.Result, error) {
	if t.snapshot.Draft {
		if err := t.forge.MarkReady(ctx, t.snapshot.Repo, t.snapshot.Number); err != nil {
			return instance.Result{}, err
		}
		again, err := t.visit(ctx, t.job)
		if err != nil {
			return instance.Result{}, err
		}
		if !again.ready() || again.snapshot.Draft || again.snapshot.Head != t.snapshot.Head {
			return again.outcome("waiting", "no draft any more, but %s", again.obstacles()), nil
		}
		t = again
	}
	if t.job.Head == t.snapshot.Head {
		repo, err := t.repository(ctx, t.job)
		if err != nil {
			return instance.Result{}, err
		}
		t.gate.AttestAgain(ctx, t.job.Job, repo, t.snapshot.HeadRef)
	}
	if t.report.Method == merge.MethodQueue {
		return t.enqueue(ctx)
	}
	t.job.Progress("merging pull request #%d at %.7s", t.snapshot.Number, t.snapshot.Head)
	_, err := forge.Land(ctx, t.forge, t.snapshot.Repo, t.snapshot.Number, t.merging())
	if notNow(err) {
		return t.outcome("waiting", "the forge did not merge it: %v", err), nil
	}
	if err != nil {
		return instance.Result{}, err
	}
	t, err = t.visit(ctx, t.job)
	if err != nil {
		return instance.Result{}, err
	}
	return t.merged(ctx)
}

// merging returns the merge with its message, in which nothing is live: the message of the
// forge would repeat the title, and may repeat the text, as people and models wrote them.
func (t *visit) merging() forge.Merge {
	in := forge.Merge{Head: t.snapshot.Head, Method: t.report.Method}
	title := sanitize.Subject(t.snapshot.Title)
	trailers := "Signalbox-Instance: " + t.job.Instance + "\n" + t.standing().trailer()
	switch in.Method {
	case "squash":
		in.Title, in.Body = fmt.Sprintf("%s (#%d)", cut(title, maxTitle), t.snapshot.Number), trailers
	case "merge":
		in.Title = sanitize.Subject(fmt.Sprintf("Merge pull request #%d from %s", t.snapshot.Number, cut(t.snapshot.HeadRef, maxTitle)))
		in.Body = sanitize.Message(title) + "\n\n" + trailers
	}
	return in
}

// notNow reports whether the forge refused a merge that it may take later.
func notNow(err error) bool {
	return errors.Is(err, forge.ErrHeadMoved) || errors.Is(err, forge.ErrBaseMoved) || errors.Is(err, forge.ErrNotMergeable)
}

// merged verifies that the pull request is merged, by any account, and that the base has
// the merge.
func (t *visit) merged(ctx context.Context) (instance.Result, error) {
	if !t.snapshot.Merged {
		return instance.Result{}, fmt.Errorf("%w: #%d was merged, and does not read so", forge.ErrUnavailable, t.snapshot.Number)
	}
	missing, err := t.forge.Behind(ctx, t.snapshot.Repo, t.snapshot.MergeSHA, t.snapshot.BaseRef)
	if err != nil {
		return instance.Result{}, err
	}
	verdict, outcome, says := merge.Pass, "merged", "pull request #%d is merged as %.7s"
	if missing > 0 {
		verdict, outcome, says = merge.Fail, "waiting", "pull request #%d is merged as %.7s, which its base does not have"
	}
	r := done(fmt.Sprintf(says, t.snapshot.Number, t.snapshot.MergeSHA), "outcome", outcome, "merging", "")
	r.Evidence = []instance.Evidence{t.finding("merged", verdict, map[string]string{"sha": t.snapshot.MergeSHA, "base": t.snapshot.BaseRef})}
	return r, nil
}
