package app

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/agent/outbound"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
)

// openPullRequest pushes the work's branch and opens a pull request for it, each once. The
// branch is ours by name and by its commits, the pull request by its head.
func (h *handler) openPullRequest(ctx context.Context, job agent.Job) (instance.Result, error) {
	repo, err := h.reader.Repository(ctx, job.Issue.Repo)
	if err != nil {
		return instance.Result{}, forgeside.Classify(err)
	}
	rival, err := forgeside.Rival(ctx, h.reader, h.gate, job, repo)
	if err != nil {
		return instance.Result{}, forgeside.Classify(err)
	}
	if rival != "" {
		return h.stuck(ctx, job, errors.New(rival))
	}
	branch, err := h.push(ctx, job, repo)
	if errors.Is(err, workspace.ErrForeign) || errors.Is(err, workspace.ErrRejected) || errors.As(err, new(*outbound.Refusal)) {
		return h.stuck(ctx, job, err)
	}
	if err != nil {
		return instance.Result{}, err
	}
	pr, _, err := h.gate.Propose(ctx, proposer{h.reader, h.writer}, job, forgeside.Proposal{Repo: repo, Branch: branch, Draft: isDraft(job),
		Text: rules.PullRequest{Assignment: job.Assignment}})
	if errors.Is(err, forge.ErrInvalid) || errors.As(err, new(*outbound.Refusal)) {
		return h.stuck(ctx, job, err)
	}
	if err != nil {
		return instance.Result{}, forgeside.Classify(err)
	}
	r := instance.Result{Status: instance.Success, ConfidenceScore: 1, Summary: fmt.Sprintf("pull request #%d is open: %s", pr.Number, pr.URL)}
	if isDraft(job) && !pr.Draft {
		r.Summary += " (no draft, though nothing shows that the work is right: the repository has none, or a person ended it)"
	}
	c, err := h.post(ctx, job.Instance, job.Issue, openedKey, rules.Opened(pr.Number, pr.URL))
	switch {
	case err == nil:
		r = forgeside.WithData(r, "comment_url", c.URL)
	case forgeside.RefusesComment(err): // the work is done; the comment to people is owed
		h.log.Warn("the issue takes no comment; trying again later", "instance", job.Instance, "error", err)
		r.Summary += fmt.Sprintf(" (the issue has no comment on it: %v)", err)
		r = forgeside.WithData(r, forgeside.Untold, err.Error())
	default:
		return r, forgeside.Classify(err)
	}
	number := strconv.Itoa(pr.Number)
	return forgeside.WithData(r, "pr_url", pr.URL, "pr_number", number, "prNumber", number, "branch", branch, "pushed", job.Head,
		"unproven", strconv.FormatBool(isDraft(job)), "shown_at", shownAt(job)), nil
}

// proposer reads and writes the forge.
type proposer struct {
	reader
	forge.Writer
}

// shownAt returns the newest commit if a test shows it to be right, else "".
func shownAt(job agent.Job) string {
	if instance.ProofOf(job.Evidence, job.Base, job.Head).Shown {
		return job.Head
	}
	return ""
}

// openedKey is the key of the comment that tells of the pull request.
const openedKey = "pull-request"

// maxNames is how many names a branch is given before people are asked.
const maxNames = 9

// push pushes the work to its branch, and returns the branch's name. If that name is taken by
// other work, such as an earlier run on another issue of the same number, it takes the
// next: NAME-2. A branch that has commits of this work is not left: people moved it.
func (h *handler) push(ctx context.Context, job agent.Job, repo forge.Repository) (branch string, err error) {
	name := Branch(job.Issue)
	for n := 1; ; n++ {
		if branch = name; n > 1 {
			branch += "-" + strconv.Itoa(n)
		}
		job.Progress("pushing %s", branch)
		err = h.gate.Push(ctx, job, repo, branch)
		if n == maxNames || !errors.Is(err, workspace.ErrForeign) {
			return branch, err
		}
		shares, unread := h.gate.Shares(ctx, job, repo, branch)
		if unread != nil {
			return branch, unread
		}
		if shares {
			return branch, err
		}
	}
}

// isDraft reports whether the pull request stays a draft: nothing shows that the work does
// what its issue asks, and the lifecycle's policy wants a person to end the draft.
func isDraft(job agent.Job) bool {
	return instance.ProofOf(job.Evidence, job.Base, job.Head).Policy(job.Policy) == instance.UnprovenDraft
}

// stuck has the instance wait for people, and tells them why. The branch does not take the
// work, the forge refuses the pull request, or something of it may not leave.
func (h *handler) stuck(ctx context.Context, job agent.Job, why error) (instance.Result, error) {
	r := instance.Result{Status: instance.Blocked, Summary: why.Error()}
	if no := new(outbound.Refusal); errors.As(why, &no) {
		r = forgeside.Unsendable(no)
		r.Status = instance.Blocked
	}
	a := job.Assignment
	a.Last = &r
	return h.say(ctx, job, fmt.Sprintf("push-%d", job.Attempt), rules.Obstacle(a), r)
}

// Branch names the branch of an issue's work: signalbox/issue-42-short-slug.
func Branch(issue instance.Issue) string {
	name := "signalbox/issue-" + strconv.Itoa(issue.Number)
	if s := slug(issue.Title); s != "" {
		name += "-" + s
	}
	return name
}

// maxSlug is how many bytes of a title a branch name takes.
const maxSlug = 40

// slug is a title's words in the letters that any file system and shell take.
func slug(title string) string {
	words := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	var b strings.Builder
	for _, w := range words {
		if b.Len()+1+len(w) > maxSlug {
			break
		}
		if b.Len() > 0 {
			b.WriteByte('-')
		}
		b.WriteString(w)
	}
	return b.String()
}
