package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/testrun"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/command"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
	"github.com/signalbox/signalbox/pkg/forge/merge"
)

// visit is one visit to a pull request: it is observed and assessed once, and then one
// thing is done about it.
type visit struct {
	*shepherd
	job      request
	snapshot merge.Snapshot
	activity merge.LastActivity // who acted last
	report   merge.Report
	shown    int64 // the run of our check on the head; 0: there is none
	owed     []owedReply
}

// phase is a part of a visit. If it is done, the visit ends with its result; else the next begins.
type phase func(context.Context) (r instance.Result, done bool, err error)

// tend visits the story's pull request (story lifecycle, pushed). It observes the pull request
// once. Then these phases follow, each in the file that is named, until one has a result.
func (s *shepherd) tend(ctx context.Context, job request) (instance.Result, error) {
	t, err := s.visit(ctx, job)
	if err != nil {
		return instance.Result{}, err
	}
	for _, phase := range []phase{
		t.payReplies,  // owed.go: posts the replies that the forge refused before
		t.closed,      // tend.go: it is merged or closed already
		t.publish,     // publish.go: shows the gates as a check
		t.elsewhere,   // elsewhere.go: a reviewer says that the work is done elsewhere
		t.rewritten,   // rewrite.go: a person pushed by force, and the work goes on from there
		t.queued,      // queue.go: it is in the merge queue
		t.land,        // land.go: every gate passes, and it is merged
		t.noteNoCheck, // draft.go: comments that no check has come
		t.respond,     // respond.go: pushes the implementer's answer and replies to the reviewers
		t.endDraft,    // draft.go: only reviewers are waited for
		t.wait,        // need.go: nothing has to be done
		t.noteNeeds,   // need.go: records that the pull request waits for us
		t.ask,         // need.go: asks the implementer
	} {
		if r, done, err := phase(ctx); done || err != nil {
			return r, err
		}
	}
	return instance.Result{}, errors.New("no phase of the visit has a result") // unreachable: ask is always done
}

// closed ends the visit to a pull request that is merged or closed.
func (t *visit) closed(ctx context.Context) (r instance.Result, done bool, err error) {
	switch {
	case t.snapshot.Merged:
		r, err = t.merged(ctx)
		return r, true, err
	case t.snapshot.State != "open":
		return t.outcome("closed", "pull request #%d was closed without a merge", t.snapshot.Number), true, nil
	}
	return r, false, nil
}

// visit observes the story's pull request and assesses it.
func (s *shepherd) visit(ctx context.Context, job request) (*visit, error) {
	pull := job.number("prNumber")
	if pull == 0 {
		return nil, forgeside.EscalateToPeople("the story names no pull request")
	}
	t := &visit{shepherd: s, job: job, owed: job.owed()}
	var err error
	t.snapshot, err = forge.Observe(ctx, s.forge, forge.Observation{Repo: job.Issue.Repo, Number: pull, Organisations: job.words("members"),
		Now: s.now})
	if err != nil {
		return nil, forgeside.ToPeople(err, forge.ErrNotFound, forge.ErrInvalid)
	}
	t.snapshot.Seen = job.seen()
	t.shown = ownCheck(&t.snapshot)
	if ev, ok := job.evidence(testrun.Acceptance); ok {
		t.snapshot.Acceptance = merge.Acceptance{Commit: ev.Commit, Verdict: merge.Verdict(ev.EffectiveVerdict()),
			Reason: strings.Join(ev.Failed, ", ")}
		if ev.Verdict == instance.VerdictPending {
			t.snapshot.Acceptance.Reason = ev.Output
		}
	}
	t.leaveOutCommands()
	reopen(&t.snapshot)
	t.activity = merge.Activity(t.snapshot)
	t.report = merge.Assess(t.snapshot, t.rules())
	t.report.Gates = append(t.report.Gates, t.answeredGate(), t.standing().gate())
	return t, nil
}

// leaveOutCommands takes the commands out of the comments on the pull request. The gateway
// carries them out; what is left of a comment is a remark.
func (t *visit) leaveOutCommands() {
	for i, c := range t.snapshot.Comments {
		if c.Path == "" {
			_, t.snapshot.Comments[i].Body = command.Parse(t.command, c.Body)
		}
	}
}

// rules returns the demands of the story on a merge, in addition to the rules of the branch.
func (t *visit) rules() merge.Rules {
	r := merge.Rules{
		Branch: t.job.Vars["branch"], Commit: t.job.Vars["pushed"], ForeignCommits: true,
		AllowNoChecks: t.job.yes("allow_no_checks"), Holds: t.job.words("hold_label"), Methods: t.job.words("merge_method"),
	}
	if r.Branch == "" {
		r.Branch = t.snapshot.HeadRef // the story came with its pull request
	}
	if _, err := fmt.Sscan(t.job.text("approvals"), &r.Approvals); err == nil && r.Approvals == 0 {
		r.Unreviewed = true
	}
	return r
}

// reopen marks a resolved conversation as open if a person has added to it after our
// answer.
func reopen(s *merge.Snapshot) {
	by := map[int64]merge.Comment{}
	for _, c := range s.Comments {
		if c.Path != "" {
			by[c.ID] = c
		}
	}
	for i, thread := range s.Threads {
		answered := false
		for _, id := range thread.Comments {
			switch c := by[id]; {
			case c.By.ID == s.Self.ID:
				answered = true
			case answered && c.By.ID != 0 && !c.By.Bot && !slices.Contains(s.Seen, fmt.Sprintf("line %d", id)):
				s.Threads[i].Resolved = false
			}
		}
	}
}

// outcome returns a result with the findings of the visit.
func (t *visit) outcome(name, format string, args ...any) instance.Result {
	r := done(fmt.Sprintf(format, args...), "outcome", name, "merging", "")
	if t.job.Vars["branch"] == "" {
		r = forgeside.WithData(r, "branch", t.snapshot.HeadRef)
	}
	if !t.snapshot.Draft {
		r = forgeside.WithData(r, "undrafted", "true")
	}
	if owed := owedVar(t.owed); owed != t.job.Vars["owed"] {
		r = forgeside.WithData(r, "owed", owed)
	}
	if readied := t.standing().readiedBy(); readied != t.job.Vars["readied"] {
		r = forgeside.WithData(r, "readied", readied)
	}
	r.Evidence = t.evidence()
	return r
}

// obstacles returns the gates that do not pass, with their reasons.
func (t *visit) obstacles() string {
	var why []string
	for _, g := range t.missing() {
		why = append(why, fmt.Sprintf("%s: %s", g.Name, g.Reason))
	}
	return strings.Join(why, "; ")
}
