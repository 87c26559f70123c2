// Package app is the committer: the only role of the pipeline that holds a forge's token.
// It fetches the code that a run starts from, and opens the pull request of approved work.
package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
)

// forgeClient is the part of a forge that the committer uses.
type forgeClient interface {
	forge.Reader
	forge.History
	forge.Writer
}

// committer implements agent.Handler. It looks for every effect before it makes it, so
// that a repeated job makes it once.
type committer struct {
	forge forgeClient
	gate  forgeside.Gate
}

// Work implements agent.Handler.
func (c *committer) Work(ctx context.Context, job agent.Job) (instance.Result, error) {
	return c.gate.Work(ctx, job, c.work)
}

func (c *committer) work(ctx context.Context, job agent.Job) (instance.Result, error) {
	if job.Question != nil && job.Head != "" {
		return instance.Result{Status: instance.Success, Summary: "The work is at " + job.Head + "."}, nil
	}
	if job.Issue.Repo == "" {
		return instance.Result{Status: instance.Blocked, Summary: "The issue is of no repository: there is no code."}, nil
	}
	repo, err := c.forge.Repository(ctx, job.Issue.Repo)
	switch {
	case errors.Is(err, forge.ErrNotFound):
		return instance.Result{}, forgeside.EscalateToPeople("the forge has no repository %s, or does not show it", job.Issue.Repo)
	case err != nil:
		return instance.Result{}, err
	case job.Question != nil:
		return c.bring(ctx, job, repo)
	}
	return c.submit(ctx, job, repo)
}

// bring answers with the code that the run starts from. No other role of the pipeline can
// fetch it.
func (c *committer) bring(ctx context.Context, job agent.Job, repo forge.Repository) (instance.Result, error) {
	if err := forgeside.Alone(ctx, c.forge, c.gate, job, repo); err != nil {
		return instance.Result{}, err
	}
	job.Progress("fetching %s at %s", repo.Name, repo.DefaultBranch)
	base, bundle, err := c.gate.Workspace.Snapshot(ctx, repo.Name, c.gate.Remote(ctx, repo), repo.DefaultBranch)
	if err := forgeside.ToPeople(err, workspace.ErrSource); err != nil {
		return instance.Result{}, err
	}
	return instance.Result{
		Status: instance.Success, ConfidenceScore: 1, Base: base, Bundle: bundle, Summary: fmt.Sprintf("%s is at %s.", repo.DefaultBranch, base),
	}, nil
}
