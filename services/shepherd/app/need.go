package app

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"regexp"
	"strings"
	"text/template"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/testrun"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/merge"
)

// implementer is the role that is asked to change the work.
const implementer = "developer"

// needs says, each in a line, what of the pull request only a change of the
// work or another run of its acceptance criteria can settle.
func (t *turn) needs() []string {
	var all []string
	for _, r := range t.last.New {
		if t.last.Who == merge.Reviewer {
			all = append(all, r.Key+" by "+r.By.Login)
		}
	}
	if t.conflicts() {
		all = append(all, "a conflict with "+t.world.BaseRef)
	} else if t.report.Gate(merge.GateBaseFresh).Verdict == merge.Fail {
		all = append(all, "new commits of "+t.world.BaseRef)
	}
	if _, ok := accepted(t.job, t.world.Head); !ok {
		all = append(all, fmt.Sprintf("the acceptance criteria on %.7s", t.world.Head))
	}
	return all
}

func (t *turn) conflicts() bool {
	return t.world.MergeableState == "dirty" || t.world.Mergeable != nil && !*t.world.Mergeable
}

// notice says that something waits for us, so that it comes before everything
// else (story lifecycle, task selection: urgent). A story that came without its
// code gets it.
func (t *turn) notice(ctx context.Context, needs []string) (instance.Result, error) {
	r := t.anew(forgeside.WithData(t.outcome("reviewed", "to be worked in: %s", strings.Join(needs, "; ")), "lastActivityBy", merge.Reviewer))
	if t.job.Base != "" {
		return r, nil
	}
	repo, err := t.repository(ctx, t.job)
	if err != nil {
		return r, err
	}
	adopted, err := t.adopt(ctx, repo, t.world.HeadRef)
	r.Base, r.Bundle = adopted.Base, adopted.Bundle
	return r, err
}

// anew takes the last run of the acceptance criteria for past: only one that is
// made when what is asked for was done tells that it was.
func (t *turn) anew(r instance.Result) instance.Result {
	r.Evidence = append(r.Evidence, instance.Evidence{
		Name: testrun.Acceptance, Verdict: instance.VerdictPending, Commit: t.job.Head, Output: "to be run again",
	})
	return r
}

// awaited reports whether a run of the acceptance criteria is.
func (t *turn) awaited() bool {
	ev, ok := evidence(t.job, testrun.Acceptance)
	return !ok || ev.Verdict == instance.VerdictPending
}

// ask has the implementer work in what is needed, on what the branch has now:
// commits that somebody else pushed to it are part of the work from then on.
func (t *turn) ask(ctx context.Context, needs []string) error {
	repo, err := t.repository(ctx, t.job)
	if err != nil {
		return err
	}
	asking := &agent.Asking{}
	q := question{Number: t.world.Number, Base: t.world.BaseRef, Needs: needs}
	if t.last.Who == merge.Reviewer {
		q.Remarks = t.last.New[:min(len(t.last.New), maxRemarks)]
	}
	at := t.job.Head
	join := func(branch string) (workspace.Joined, error) {
		j, err := t.workspace.Join(ctx, workspace.Meeting{
			Repo: repo.Name, Bundles: forgeside.BundleObjects(t.job), Base: t.job.Base, Head: at, From: t.remote(repo), Branch: branch,
			Message: fmt.Sprintf("Merge %s into %s", branch, t.world.HeadRef),
		})
		if err == nil && j.Head != at {
			at, asking.Head, asking.Bundle = j.Head, j.Head, j.Bundle
		}
		q.Conflicts = append(q.Conflicts, j.Conflicts...)
		return j, err
	}
	if t.world.Head != at {
		j, err := join(t.world.HeadRef)
		if err != nil {
			return err
		}
		if t.world.Head != t.job.Vars["pushed"] {
			q.Theirs = j.Theirs
		}
	}
	if t.conflicts() || t.report.Gate(merge.GateBaseFresh).Verdict == merge.Fail {
		if _, err := join(t.world.BaseRef); err != nil {
			return err
		}
		q.Merged = true
	}
	asking.Questions = []instance.Inquiry{{To: implementer, Question: q.String()}}
	return asking
}

// What of reviewers' remarks goes into one question: more of them come next.
const (
	maxRemarks = 40
	maxRemark  = 8 << 10 // bytes
)

// question is what the implementer is asked for.
type question struct {
	Number    int // of the pull request
	Base      string
	Needs     []string
	Remarks   []merge.Remark
	Theirs    string // where somebody else moved the branch to
	Merged    bool   // the work holds the base
	Conflicts []string
}

//go:embed text/question.md
var questionText string

// String is the question in Markdown. What people said is quoted, so that no
// line of it passes for one of ours.
func (q question) String() string {
	quote := func(s string) string {
		if len(s) > maxRemark {
			s = strings.ToValidUTF8(s[:maxRemark], "") + "\n[…]"
		}
		return "> " + strings.ReplaceAll(strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")), "\n", "\n> ")
	}
	var out bytes.Buffer
	// The text is part of the program: one that fails is a mistake in it.
	if err := template.Must(template.New("question").Funcs(template.FuncMap{"quote": quote}).Parse(questionText)).Execute(&out, q); err != nil {
		panic(err)
	}
	return strings.TrimSpace(blankLines.ReplaceAllString(out.String(), "\n\n")) + "\n"
}

var (
	blankLines = regexp.MustCompile(`\n{3,}`)
	keyLine    = regexp.MustCompile(`(?m)^### ((?:review|line|comment) \d+)\b`)
	markLine   = regexp.MustCompile(`(?m)^### conflict$`)
)

// remarksIn are the keys of the remarks that a question puts.
func remarksIn(question string) []string {
	var keys []string
	for _, m := range keyLine.FindAllStringSubmatch(question, -1) {
		keys = append(keys, m[1])
	}
	return keys
}
