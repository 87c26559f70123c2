// Package app is the PM: the only voice of Signalbox towards people. It asks
// through issue comments, reads the answers, and opens the pull request.
package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/agent/role"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
)

// handler does the PM's work. Every effect on the forge follows an event that
// decided it, and carries a marker. The handler looks for the marker first, so
// that a repeated effect is made once. It implements agent.Handler.
type handler struct {
	reader reader
	writer forge.Writer
	gate   forgeside.Gate
	log    *slog.Logger
	now    func() time.Time
	brains role.Brains // what reads people's words, if it has any
	others others      // instances that an issue is compared with; nil: none
}

// reader is a forge as the PM reads it.
type reader interface {
	forge.Reader
	forge.History
}

// Work implements agent.Handler.
func (h *handler) Work(ctx context.Context, job agent.Job) (instance.Result, error) {
	return h.gate.Work(ctx, job, h.work)
}

func (h *handler) work(ctx context.Context, job agent.Job) (instance.Result, error) {
	switch job.Work.Does {
	case workflow.TakeUp:
		return h.takeUp(ctx, job)
	case workflow.AskQuestions:
		return h.askQuestions(ctx, job)
	case workflow.AskForHelp:
		return h.askForHelp(ctx, job)
	case workflow.OpenPullRequest:
		return h.openPullRequest(ctx, job)
	}
	return h.judge(ctx, job)
}

// judge judges by rule, and by the brain where that reads. Its only effect outside is a comment that names
// the permitted answers to people whose words are none.
func (h *handler) judge(ctx context.Context, job agent.Job) (instance.Result, error) {
	may := map[string]bool{}
	var failed error
	self := ""
	if a := job.Work.Does; job.Issue.Number != 0 && (a == workflow.ReadAnswers || a == workflow.ReadDecision) {
		if self, failed = h.reader.Self(ctx); failed != nil {
			return instance.Result{}, forgeside.Classify(failed)
		}
	}
	mayAnswer := func(login string) bool {
		if _, asked := may[login]; !asked && failed == nil {
			may[login], failed = h.mayAnswer(ctx, job.Issue, login)
		}
		return may[login]
	}
	pm := rules.PM{Self: self, MayAnswer: mayAnswer}
	out, err := pm.Work(ctx, job.Assignment)
	if err == nil && failed == nil {
		out.Result, err = h.think(ctx, job, out.Result, mayAnswer)
	}
	if err == nil && failed == nil && job.Work.Does == workflow.ReadAnswers {
		if unfit := pm.Unfitting(job.Assignment, out.Result); len(unfit) > 0 && failed == nil {
			out.Result, err = h.say(ctx, job, fmt.Sprintf("unread-%d", job.Attempt), rules.Unread(unfit), out.Result)
		}
	}
	if failed != nil {
		return instance.Result{}, forgeside.Classify(failed)
	}
	return out.Result, err
}

// mayAnswer reports whether a person's words count: the reporter's, an operator's,
// and those of people who may write to the repository. It asks the forge each
// time, since permissions change.
func (h *handler) mayAnswer(ctx context.Context, issue instance.Issue, login string) (bool, error) {
	// No login on a forge has a colon.
	if issue.Number == 0 || strings.HasPrefix(login, "operator:") || login != "" && login == issue.Author {
		return true, nil
	}
	permission, err := h.reader.Permission(ctx, issue.Repo, login)
	if errors.Is(err, forge.ErrNotFound) || errors.Is(err, forge.ErrInvalid) {
		return false, nil // the author has no account any more
	}
	return permission == "write" || permission == "maintain" || permission == "admin", err
}

// takeUp takes a snapshot of the code that the work starts from.
func (h *handler) takeUp(ctx context.Context, job agent.Job) (instance.Result, error) {
	r, err := h.judge(ctx, job)
	if err != nil || r.Status != instance.Success || job.Issue.Repo == "" || job.Base != "" {
		return r, err
	}
	repo, err := h.reader.Repository(ctx, job.Issue.Repo)
	if err != nil {
		return r, forgeside.Classify(err)
	}
	if err := forgeside.Alone(ctx, h.reader, h.gate, job, repo); err != nil {
		return r, forgeside.Classify(err)
	}
	job.Progress("fetching %s at %s", repo.Name, repo.DefaultBranch)
	r.Base, r.Bundle, err = h.gate.Workspace.Snapshot(ctx, repo.Name, h.gate.Remote(ctx, repo), repo.DefaultBranch)
	if err != nil {
		return r, err
	}
	return forgeside.WithData(r, "branch", repo.DefaultBranch), h.triage(ctx, job)
}

// askQuestions posts the open questions as one comment, again each time they are
// to be asked.
func (h *handler) askQuestions(ctx context.Context, job agent.Job) (instance.Result, error) {
	r, err := h.judge(ctx, job)
	if err != nil || r.Status != instance.Success || len(job.Open()) == 0 {
		return r, err
	}
	if job.Issue.Number == 0 {
		return r, nil
	}
	worded, spend, err := h.word(ctx, job)
	if err != nil {
		return r, err
	}
	r.Spend = r.Spend.Add(spend)
	c, before, err := h.ask(ctx, job.Instance, job.Issue, job.Attempt, job.Open(), rules.Questions(worded))
	if err != nil {
		return r, untold(err)
	}
	if before && job.Attempt > 1 {
		return forgeside.WithData(r, "asked", "before", "comment_url", c.URL), nil
	}
	// Only rounds in which people were really asked count towards the limit.
	rounds, _ := strconv.Atoi(job.Vars["rounds"])
	r = forgeside.WithData(r, "rounds", strconv.Itoa(rounds+1))
	return forgeside.WithData(r, "comment_url", c.URL), nil
}

// askForHelp tells people what is in the way.
func (h *handler) askForHelp(ctx context.Context, job agent.Job) (instance.Result, error) {
	r, err := h.judge(ctx, job)
	if err != nil || r.Status != instance.Success {
		return r, err
	}
	return h.say(ctx, job, fmt.Sprintf("blocked-%d", job.Attempt), rules.Obstacle(job.Assignment), r)
}

// say posts a comment once and adds its address to the result. An instance that
// is on no forge keeps its words in the log alone.
func (h *handler) say(ctx context.Context, job agent.Job, key, body string, r instance.Result) (instance.Result, error) {
	if job.Issue.Number == 0 {
		return r, nil
	}
	c, err := h.post(ctx, job.Instance, job.Issue, key, body)
	if err != nil {
		return r, untold(err)
	}
	return forgeside.WithData(r, "comment_url", c.URL), nil
}

// untold classifies the error of a comment that asks people. If the forge takes no comment
// on the issue, because it is locked, or the reporter has blocked us, people have to look at
// the instance itself.
func untold(err error) error {
	if forgeside.RefusesComment(err) {
		return forgeside.EscalateToPeople("people cannot be asked on the issue: %v", err)
	}
	return forgeside.Classify(err)
}
