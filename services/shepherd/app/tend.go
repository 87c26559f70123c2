package app

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/testrun"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/merge"
)

// turn is one look at a pull request, and what is done about what is seen.
type turn struct {
	*shepherd
	job    agent.Job
	world  merge.Snapshot
	last   merge.Turn // who acted last
	report merge.Report
}

// tend looks at the story's pull request once, and does the first that there is
// to do (story lifecycle, pushed): whoever acted last, merge it if it is ready;
// then work in what reviewers said; else wait.
func (s *shepherd) tend(ctx context.Context, job agent.Job) (instance.Result, error) {
	t, err := s.look(ctx, job)
	if err != nil {
		return instance.Result{}, err
	}
	switch {
	case t.world.Merged:
		return t.merged(ctx)
	case t.world.State != "open":
		return t.outcome("closed", "pull request #%d was closed without a merge", t.world.Number), nil
	case t.ready() && !yes(job, "auto_merge"):
		return t.outcome("waiting", "it is ready, and merged by people here"), nil
	case t.ready() && job.Vars["merging"] == t.world.Head:
		return t.land(ctx)
	case t.ready():
		return forgeside.WithData(t.outcome("ready", "every gate passes on %.7s", t.world.Head), "merging", t.world.Head), nil
	}
	question, answered := t.answer()
	needs := t.needs()
	switch {
	case answered:
		return t.respond(ctx, question)
	case len(needs) == 0:
		return forgeside.WithData(t.outcome("waiting", "waiting: %s", t.open()), "lastActivityBy", merge.Bot), nil
	case job.Vars["lastActivityBy"] != merge.Reviewer || job.Base == "" || !t.awaited():
		return t.notice(ctx, needs)
	}
	return instance.Result{}, t.ask(ctx, needs)
}

// look reads the world of the story's pull request and judges it.
func (s *shepherd) look(ctx context.Context, job agent.Job) (*turn, error) {
	pull := number(job, "prNumber")
	if pull == 0 {
		return nil, forgeside.EscalateToPeople("the story names no pull request")
	}
	t := &turn{shepherd: s, job: job}
	var err error
	t.world, err = forge.Observe(ctx, s.forge, forge.Observation{Repo: job.Issue.Repo, Number: pull, Organisations: words(job, "members"), Now: s.now})
	if errors.Is(err, forge.ErrNotFound) || errors.Is(err, forge.ErrInvalid) {
		return nil, forgeside.EscalateToPeople("%v", err)
	}
	if err != nil {
		return nil, err
	}
	t.world.Seen = seen(job)
	if ev, ok := evidence(job, testrun.Acceptance); ok {
		t.world.Acceptance = merge.Acceptance{Commit: ev.Commit, Verdict: merge.Verdict(ev.EffectiveVerdict()), Reason: strings.Join(ev.Failed, ", ")}
		if ev.Verdict == instance.VerdictPending {
			t.world.Acceptance.Reason = ev.Output
		}
	}
	reopen(&t.world)
	t.last = merge.Activity(t.world)
	t.report = merge.Assess(t.world, t.rules())
	t.report.Gates = append(t.report.Gates, t.answeredGate())
	return t, nil
}

// rules is what the story demands of a merge, beside the branch itself.
func (t *turn) rules() merge.Rules {
	r := merge.Rules{
		Branch: t.job.Vars["branch"], Commit: t.job.Vars["pushed"], ForeignCommits: true,
		AllowNoChecks: yes(t.job, "allow_no_checks"), Holds: words(t.job, "hold_label"), Methods: words(t.job, "merge_method"),
	}
	if r.Branch == "" {
		r.Branch = t.world.HeadRef // the story came with its pull request
	}
	if _, err := fmt.Sscan(text(t.job, "approvals"), &r.Approvals); err == nil && r.Approvals == 0 {
		r.Unreviewed = true
	}
	return r
}

// reopen has a conversation be open again that somebody went on with after we
// had answered and ended it.
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

// outcome is a result with all that was seen.
func (t *turn) outcome(name, format string, args ...any) instance.Result {
	r := done(fmt.Sprintf(format, args...), "outcome", name, "merging", "")
	if t.job.Vars["branch"] == "" {
		r = forgeside.WithData(r, "branch", t.world.HeadRef)
	}
	if !t.world.Draft {
		r = forgeside.WithData(r, "undrafted", "true")
	}
	r.Evidence = t.evidence()
	return r
}

// open says what stands in the way.
func (t *turn) open() string {
	var why []string
	for _, g := range t.missing() {
		why = append(why, fmt.Sprintf("%s: %s", g.Name, g.Reason))
	}
	return strings.Join(why, "; ")
}
