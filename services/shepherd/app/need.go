package app

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"strings"
	"text/template"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/testrun"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
	"github.com/signalbox/signalbox/pkg/forge/merge"
)

// implementer is the role that changes the work.
const implementer = "developer"

// needs returns, a line each, what requires a change of the work or another run of its
// acceptance criteria.
func (t *visit) needs() []string {
	var all []string
	for _, r := range t.activity.New {
		if t.activity.Who == merge.Reviewer {
			all = append(all, r.Key+" by "+r.By.Login)
		}
	}
	if t.conflicts() {
		all = append(all, "a conflict with "+t.snapshot.BaseRef)
	} else if t.behind() {
		all = append(all, "new commits of "+t.snapshot.BaseRef)
	}
	for _, c := range t.failing() {
		all = append(all, t.checkKey(c)+", which is red")
	}
	if _, ok := t.job.accepted(t.snapshot.Head); !ok {
		all = append(all, fmt.Sprintf("the acceptance criteria on %.7s", t.snapshot.Head))
	}
	return all
}

// behind reports whether the work has to have what its base has more.
func (t *visit) behind() bool {
	_, unqueued := t.snapshot.UnqueuedByChecks()
	asked := t.job.Vars["rebase_at"] == t.snapshot.Head
	return t.report.Gate(merge.GateBaseFresh).Verdict == merge.Fail || (unqueued || asked) && t.snapshot.Behind > 0
}

func (t *visit) conflicts() bool {
	return t.snapshot.MergeableState == "dirty" || t.snapshot.Mergeable != nil && !*t.snapshot.Mergeable
}

// wait ends the visit to a pull request that needs nothing of us.
func (t *visit) wait(context.Context) (r instance.Result, done bool, err error) {
	if len(t.needs()) > 0 {
		return r, false, nil
	}
	return forgeside.WithData(t.outcome("waiting", "waiting: %s", t.obstacles()), "lastActivityBy", merge.Bot), true, nil
}

// noteNeeds records that the pull request waits for us, which makes the story urgent
// (story lifecycle, task selection). A story without its code gets it. Nothing is recorded twice.
func (t *visit) noteNeeds(ctx context.Context) (r instance.Result, done bool, err error) {
	if t.job.Vars["lastActivityBy"] == merge.Reviewer && t.job.Base != "" && t.runPending() {
		return r, false, nil
	}
	r = t.requireNewRun(forgeside.WithData(t.outcome("reviewed", "to be worked in: %s", strings.Join(t.needs(), "; ")), "lastActivityBy",
		merge.Reviewer))
	if t.job.Base != "" {
		return r, true, nil
	}
	repo, err := t.repository(ctx, t.job)
	if err != nil {
		return r, true, err
	}
	adopted, err := t.adopt(ctx, repo, t.snapshot.HeadRef)
	r.Base, r.Bundle = adopted.Base, adopted.Bundle
	return r, true, err
}

// requireNewRun makes the acceptance criteria pending: only a run after the requested
// change counts.
func (t *visit) requireNewRun(r instance.Result) instance.Result {
	r.Evidence = append(r.Evidence, instance.Evidence{
		Name: testrun.Acceptance, Verdict: instance.VerdictPending, Commit: t.job.Head, Output: "to be run again",
	})
	return r
}

// runPending reports whether a run of the acceptance criteria is still to come.
func (t *visit) runPending() bool {
	ev, ok := t.job.evidence(testrun.Acceptance)
	return !ok || ev.Verdict == instance.VerdictPending
}

// didNotPass is the name, in the data of pending acceptance criteria, of the commit that
// they were last run on, and did not pass.
const didNotPass = "did not pass"

// ask asks the implementer for the needed changes, on top of the branch as it is now.
// Commits that others pushed to it become part of the work. If nothing but a run of the
// acceptance criteria is needed, nothing else is asked for.
// Before that, a branch that was rewritten meanwhile is taken over.
func (t *visit) ask(ctx context.Context) (r instance.Result, done bool, err error) {
	repo, err := t.repository(ctx, t.job)
	if err != nil {
		return r, true, err
	}
	asking := &agent.ErrAsk{}
	q := question{Number: t.snapshot.Number, Base: t.snapshot.BaseRef, Needs: t.needs()}
	if t.activity.Who == merge.Reviewer {
		q.Remarks = t.activity.New[:min(len(t.activity.New), maxRemarks)]
	}
	at := t.job.Head
	join := func(branch string) (workspace.Joined, error) {
		j, err := t.gate.Workspace.MergeBranch(ctx, t.meeting(ctx, repo, at, branch))
		if err == nil && j.Head != at {
			at, asking.Head, asking.Bundle = j.Head, j.Head, j.Bundle
		}
		q.Conflicts = append(q.Conflicts, j.Conflicts...)
		return j, err
	}
	if t.snapshot.Head != at {
		j, err := join(t.snapshot.HeadRef)
		if err != nil {
			return r, true, err
		}
		if j.Rewritten {
			return t.takeOver(j), true, nil
		}
		if t.snapshot.Head != t.job.Vars["pushed"] {
			q.Theirs = j.Theirs
		}
	}
	if t.conflicts() || t.behind() {
		if _, err := join(t.snapshot.BaseRef); err != nil {
			return r, true, err
		}
		q.Merged = true
	}
	if q.Checks, err = t.failures(ctx, t.failing()); err != nil {
		return r, true, err
	}
	ev, _ := t.job.evidence(testrun.Acceptance)
	runOnly := len(q.Remarks) == 0 && len(q.Checks) == 0 && !q.Merged && q.Theirs == "" && at == t.snapshot.Head && ev.Data[didNotPass] != at
	asking.Questions = []instance.Inquiry{{To: implementer, Question: q.String(), RunOnly: runOnly}}
	return r, true, asking
}

// The limits of one question. Remarks above them go into the next one.
const (
	maxRemarks = 40
	maxRemark  = 8 << 10 // bytes
)

// question is the question to the implementer.
type question struct {
	Number    int // of the pull request
	Base      string
	Needs     []string
	Remarks   []merge.Remark
	Checks    []failed
	Theirs    string // the commit that others moved the branch to
	Merged    bool   // the work contains the base
	Conflicts []string
}

//go:embed text/question.md
var questionText string

// String returns the question in Markdown. It quotes the remarks of people, so that none
// of their lines passes for one of ours.
func (q question) String() string {
	quote := func(s string) string {
		if len(s) > maxRemark {
			s = strings.ToValidUTF8(s[:maxRemark], "") + "\n[…]"
		}
		return "> " + strings.ReplaceAll(strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")), "\n", "\n> ")
	}
	var out bytes.Buffer
	// The text is part of the program: one that fails is a mistake in it.
	if err := template.Must(template.New("question").Funcs(template.FuncMap{"quote": quote}).Parse(questionText)).Execute(&out,
		q); err != nil {
		panic(err)
	}
	return strings.TrimSpace(blankLines.ReplaceAllString(out.String(), "\n\n")) + "\n"
}

var (
	blankLines = lazyregexp.New(`\n{3,}`)
	keyLine    = lazyregexp.New(`(?m)^### ((?:review|line|comment|check) \d+)\b`)
	markLine   = lazyregexp.New(`(?m)^### conflict$`)
)

// remarksIn returns the keys of the remarks and checks in a question.
func remarksIn(question string) []string {
	var keys []string
	for _, m := range keyLine.FindAllStringSubmatch(question, -1) {
		keys = append(keys, m[1])
	}
	return keys
}
