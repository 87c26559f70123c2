package app

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
	"github.com/signalbox/signalbox/pkg/forge/merge"
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
		case merge.GateNoFailingChecks:
			if !t.unchecked() {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// uncheckedAfter is how long after a push a repository without a check is taken for one
// without CI.
const uncheckedAfter = 5 * time.Minute

// unchecked reports whether the merge waits for checks that may never come: none has
// reported, none is demanded, and the policy asks for one.
func (t *visit) unchecked() bool {
	return !yes(t.job, "allow_no_checks") && merge.Unchecked(t.snapshot, []string{rules.GatesCheck}, uncheckedAfter)
}

// tellUnchecked says once, on the pull request, that no check has come, and what to do.
func (t *visit) tellUnchecked(ctx context.Context) error {
	marker := rules.Marker(t.job.Instance, "no-checks")
	told := func(c merge.Comment) bool { return c.By.ID == t.snapshot.Self.ID && strings.Contains(c.Body, marker) }
	if !t.unchecked() || slices.ContainsFunc(t.snapshot.Comments, told) {
		return nil
	}
	_, err := forge.Post(ctx, t.forge, t.snapshot.Repo, t.snapshot.Number, marker, rules.Unchecked(t.snapshot.Head))
	if forgeside.RefusesComment(err) { // the next visit tries again
		t.logUntold("it is said later that no check has come: the pull request takes no comment", err, "instance", t.job.Instance)
		return nil
	}
	return err
}

// endDraft marks the pull request as ready for its reviewers.
func (t *visit) endDraft(ctx context.Context) (instance.Result, error) {
	if err := t.forge.MarkReady(ctx, t.snapshot.Repo, t.snapshot.Number); err != nil {
		return instance.Result{}, err
	}
	r := forgeside.WithData(t.outcome("waiting", "no draft any more, and for the reviewers: %s", t.obstacles()), "lastActivityBy", merge.Bot)
	return forgeside.WithData(r, "undrafted", "true", "readied", readiedByUs), nil
}
