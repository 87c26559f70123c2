package app

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent"
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
	job      agent.Job
	snapshot merge.Snapshot
	activity merge.LastActivity // who acted last
	report   merge.Report
	shown    int64 // the run of our check on the head; 0: there is none
	owed     []owedReply
}

// tend visits the story's pull request (story lifecycle, pushed). It gives the work up if a
// reviewer says that it is done elsewhere. It merges the pull request if that is ready.
// Else it has the remarks of reviewers worked in. Else it waits.
func (s *shepherd) tend(ctx context.Context, job agent.Job) (instance.Result, error) {
	t, err := s.visit(ctx, job)
	if err != nil {
		return instance.Result{}, err
	}
	if err := t.payReplies(ctx); err != nil {
		return instance.Result{}, err
	}
	switch {
	case t.snapshot.Merged:
		return t.merged(ctx)
	case t.snapshot.State != "open":
		return t.outcome("closed", "pull request #%d was closed without a merge", t.snapshot.Number), nil
	}
	if err := t.publish(ctx); err != nil {
		return instance.Result{}, err
	}
	if by, says := t.elsewhere(); says {
		return t.outcome("elsewhere", "%s says that it is done elsewhere, or not needed", by), nil
	}
	if r, rewritten, err := t.rewritten(ctx); rewritten || err != nil {
		return r, err
	}
	if r, queued, err := t.queued(ctx); queued || err != nil {
		return r, err
	}
	switch {
	case t.ready() && !yes(job, "auto_merge") && job.Vars["merge_at"] != t.snapshot.Head:
		return t.outcome("unmerged", "it is ready, and merged when a person says so"), nil
	case t.ready() && job.Vars["merging"] == t.snapshot.Head:
		return t.land(ctx)
	case t.ready():
		return forgeside.WithData(t.outcome("ready", "every gate passes on %.7s", t.snapshot.Head), "merging", t.snapshot.Head), nil
	}
	if err := t.tellUnchecked(ctx); err != nil {
		return instance.Result{}, err
	}
	question, answered := t.answer()
	needs := t.needs()
	switch {
	case answered:
		return t.respond(ctx, question)
	case len(needs) == 0 && t.awaitsReviewers():
		return t.endDraft(ctx)
	case len(needs) == 0:
		return forgeside.WithData(t.outcome("waiting", "waiting: %s", t.obstacles()), "lastActivityBy", merge.Bot), nil
	case job.Vars["lastActivityBy"] != merge.Reviewer || job.Base == "" || !t.runPending():
		return t.noteNeeds(ctx, needs)
	}
	return t.ask(ctx, needs)
}

// visit observes the story's pull request and assesses it.
func (s *shepherd) visit(ctx context.Context, job agent.Job) (*visit, error) {
	pull := number(job, "prNumber")
	if pull == 0 {
		return nil, forgeside.EscalateToPeople("the story names no pull request")
	}
	t := &visit{shepherd: s, job: job, owed: owedReplies(job.Vars)}
	var err error
	t.snapshot, err = forge.Observe(ctx, s.forge, forge.Observation{Repo: job.Issue.Repo, Number: pull, Organisations: words(job, "members"),
		Now: s.now})
	if errors.Is(err, forge.ErrNotFound) || errors.Is(err, forge.ErrInvalid) {
		return nil, forgeside.EscalateToPeople("%v", err)
	}
	if err != nil {
		return nil, err
	}
	t.snapshot.Seen = seen(job)
	t.shown = ownCheck(&t.snapshot)
	if ev, ok := evidence(job, testrun.Acceptance); ok {
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

// rules returns what the story demands of a merge, beside the rules of the branch.
func (t *visit) rules() merge.Rules {
	r := merge.Rules{
		Branch: t.job.Vars["branch"], Commit: t.job.Vars["pushed"], ForeignCommits: true,
		AllowNoChecks: yes(t.job, "allow_no_checks"), Holds: words(t.job, "hold_label"), Methods: words(t.job, "merge_method"),
	}
	if r.Branch == "" {
		r.Branch = t.snapshot.HeadRef // the story came with its pull request
	}
	if _, err := fmt.Sscan(text(t.job, "approvals"), &r.Approvals); err == nil && r.Approvals == 0 {
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
			case answered && c.By.ID != 0 && !c.By.Bot && !contains(s.Seen, fmt.Sprintf("line %d", id)):
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
