package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/document/pipeline"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
)

// submit pushes the issue's branch and opens a pull request for it, each once. The branch
// is known by its name, the pull request by its branch, its author and its marker. It
// submits only work that the reviewer approved.
func (c *committer) submit(ctx context.Context, job agent.Job, repo forge.Repository) (instance.Result, error) {
	doc := pipeline.OfAssignment(job.Assignment)
	switch {
	case doc.Review.Verdict != pipeline.Approved:
		return instance.Result{Status: instance.Blocked, Summary: fmt.Sprintf("nothing is handed in without approval: the verdict is %s",
			doc.Review.Verdict)}, nil
	case job.Head == "" || job.Head == job.Base:
		return instance.Result{Status: instance.Failure, Summary: "there is nothing to hand in: the work changed nothing"}, nil
	}
	if err := forgeside.Alone(ctx, c.forge, c.gate, job, repo); err != nil {
		return instance.Result{}, err
	}
	branch := pipeline.Branch(job.Issue)
	job.Progress("pushing %s", branch)
	if err := forgeside.ToPeople(c.gate.Push(ctx, job, repo, branch), workspace.ErrForeign, workspace.ErrRejected); err != nil {
		return instance.Result{}, err
	}
	entries, _, err := c.gate.Workspace.Log(ctx, workspace.Spec{Repo: repo.Name, Bundles: forgeside.BundleObjects(job), Base: job.Base,
		Head: job.Head})
	if err != nil {
		return instance.Result{}, err
	}
	pr, err := c.propose(ctx, job, repo, branch, doc.Writer.Summary)
	if err != nil {
		return instance.Result{}, err
	}
	closed, err := c.issueClosed(ctx, job.Issue)
	if err != nil {
		return instance.Result{}, err
	}
	message := entries[len(entries)-1].Subject
	section, err := json.Marshal(pipeline.Commit{
		Completed: true, Hash: &job.Head, Message: &message, Branch: branch, Pushed: true, PRCreated: true, PRURL: &pr.URL, IssueClosed: closed,
	})
	return instance.Result{
		Status: instance.Success, ConfidenceScore: 1, Summary: fmt.Sprintf("pull request #%d is open: %s", pr.Number, pr.URL),
		Sections: map[string]string{"commit": string(section)},
		Data:     map[string]string{"pr_url": pr.URL, "pr_number": strconv.Itoa(pr.Number), "branch": branch},
	}, err
}

// issueClosed reports whether the issue is closed on the forge now. It is not the committer
// that closes it: the merge of the pull request does, or a person.
func (c *committer) issueClosed(ctx context.Context, i instance.Issue) (bool, error) {
	if i.Number == 0 {
		return false, nil
	}
	now, err := c.forge.Issue(ctx, i.Repo, i.Number)
	if errors.Is(err, forge.ErrNotFound) {
		return false, nil
	}
	return now.State == "closed", err
}

// propose finds the run's pull request, or opens it.
func (c *committer) propose(ctx context.Context, job agent.Job, repo forge.Repository, branch, summary string) (forge.PullRequest, error) {
	a := job.Assignment
	a.Questions = slices.DeleteFunc(slices.Clone(a.Questions), func(q instance.Question) bool { return q.To != "" })
	pr, own, err := c.gate.Propose(ctx, c.forge, job, forgeside.Proposal{
		Repo: repo, Branch: branch, Text: rules.PullRequest{Assignment: a, Summary: summary},
		Draft: instance.ProofOf(job.Evidence, job.Base, job.Head).Policy(job.Policy) == instance.UnprovenDraft,
	})
	switch {
	case errors.Is(err, forge.ErrInvalid):
		err = forgeside.EscalateToPeople("the forge refuses the pull request: %v", err)
	case err == nil && !own:
		err = forgeside.EscalateToPeople("pull request #%d for branch %s is not mine: %s", pr.Number, branch, pr.URL)
	}
	return pr, err
}
