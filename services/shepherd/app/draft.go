package app

import (
	"context"

	"github.com/signalbox/signalbox/pkg/forge/forgeside"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/merge"
)

// endsEarly reports whether our draft ends before its merge (policy draft_until).
func (t *visit) endsEarly() bool { return text(t.job, "draft_until") == "checks" }

// draftEnds says when our draft ends.
func (t *visit) draftEnds() string {
	if t.endsEarly() {
		return "only reviewers are waited for"
	}
	return "they do"
}

// awaitsReviewers reports whether our draft ends now: every gate passes but those that
// reviewers decide. A forge asks code owners only for what is no draft.
func (t *visit) awaitsReviewers() bool {
	if !t.snapshot.Draft || t.job.Vars["undrafted"] == "true" || !t.endsEarly() {
		return false
	}
	for _, g := range t.missing() {
		switch g.Name {
		case merge.GateApprovals, merge.GateNoChangesRequested, merge.GateThreadsResolved:
			if g.Verdict == merge.Unknown {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// endDraft marks the pull request as ready for its reviewers.
func (t *visit) endDraft(ctx context.Context) (instance.Result, error) {
	if err := t.forge.MarkReady(ctx, t.snapshot.Repo, t.snapshot.Number); err != nil {
		return instance.Result{}, err
	}
	r := forgeside.WithData(t.outcome("waiting", "no draft any more, and for the reviewers: %s", t.obstacles()), "lastActivityBy", merge.Bot)
	return forgeside.WithData(r, "undrafted", "true"), nil
}
