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
func (t *visit) endsEarly() bool { return t.job.text("draft_until") == "checks" }

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
	return !t.job.yes("allow_no_checks") && merge.Unchecked(t.snapshot, []string{rules.GatesCheck}, uncheckedAfter)
}

// noteNoCheck comments once, on the pull request, that no check has come, and names the remedy.
func (t *visit) noteNoCheck(ctx context.Context) (r instance.Result, done bool, err error) {
	marker := rules.Marker(t.job.Instance, "no-checks")
	told := func(c merge.Comment) bool { return c.By.ID == t.snapshot.Self.ID && strings.Contains(c.Body, marker) }
	if !t.unchecked() || slices.ContainsFunc(t.snapshot.Comments, told) {
		return r, false, nil
	}
	_, err = forge.Post(ctx, t.forge, t.snapshot.Repo, t.snapshot.Number, marker, rules.Unchecked(t.snapshot.Head))
	if forgeside.RefusesComment(err) { // the next visit tries again
		t.logUntold("the comment that no check has come follows later: the pull request takes no comment", err, "instance", t.job.Instance)
		err = nil
	}
	return r, false, err
}

// endDraft marks the pull request as ready for its reviewers, if only they are waited for.
func (t *visit) endDraft(ctx context.Context) (r instance.Result, done bool, err error) {
	if len(t.needs()) > 0 || !t.awaitsReviewers() {
		return r, false, nil
	}
	if err := t.forge.MarkReady(ctx, t.snapshot.Repo, t.snapshot.Number); err != nil {
		return r, false, err
	}
	r = forgeside.WithData(t.outcome("waiting", "no draft any more, and for the reviewers: %s", t.obstacles()), "lastActivityBy", merge.Bot)
	return forgeside.WithData(r, "undrafted", "true", "readied", readiedByUs), true, nil
}
