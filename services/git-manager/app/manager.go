// Package app is the git-manager: the only role of the task lifecycle that holds a forge's
// token. It fetches the code that a task starts from, and pushes its work to a branch.
package app

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/outbound"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
)

// manager implements agent.Handler.
type manager struct {
	forge forge.Reader
	gate  forgeside.Gate
}

// Work implements agent.Handler.
func (m *manager) Work(ctx context.Context, job agent.Job) (instance.Result, error) {
	return m.gate.Work(ctx, job, m.work)
}

func (m *manager) work(ctx context.Context, job agent.Job) (instance.Result, error) {
	if job.Issue.Repo == "" {
		return instance.Result{Status: instance.Blocked, Summary: "the task names no repository: there is no code"}, nil
	}
	repo, err := m.forge.Repository(ctx, job.Issue.Repo)
	if err != nil {
		return instance.Result{}, err
	}
	switch {
	case job.Question != nil && job.Head == "":
		return m.bring(ctx, job, repo)
	case job.Question != nil:
		return m.build(ctx, job, repo)
	}
	return m.commit(ctx, job, repo)
}

// bring answers with the code the task starts from.
func (m *manager) bring(ctx context.Context, job agent.Job, repo forge.Repository) (instance.Result, error) {
	job.Progress("fetching %s at %s", repo.Name, repo.DefaultBranch)
	base, bundle, err := m.gate.Workspace.Snapshot(ctx, repo.Name, m.gate.Remote(ctx, repo), repo.DefaultBranch)
	return instance.Result{
		Status: instance.Success, ConfidenceScore: 1, Base: base, Bundle: bundle,
		Summary: fmt.Sprintf("%s is at %s", repo.DefaultBranch, base),
	}, err
}

// commit pushes the work to the task's branch, once. If the forge refuses the commits, the
// task fails as it does after a failed pre-commit in the lifecycle's source.
func (m *manager) commit(ctx context.Context, job agent.Job, repo forge.Repository) (instance.Result, error) {
	if job.Head == "" || job.Head == job.Base {
		return instance.Result{Status: instance.Failure, Summary: "there is nothing to commit"}, nil
	}
	branch, bundles := Branch(job.Instance), forgeside.BundleObjects(job)
	left, err := m.gate.Workspace.Unresolved(ctx, workspace.Spec{Repo: repo.Name, Base: job.Base, Head: job.Head, Bundles: bundles})
	switch {
	case err != nil:
		return instance.Result{}, err
	case len(left) > 0:
		return instance.Result{Status: instance.Failure, Summary: "there are marks of conflicts in " + strings.Join(left, ", "),
			IssuesFound: left}, nil
	}
	job.Progress("pushing %s", branch)
	err = m.gate.Push(ctx, job, repo, branch)
	if errors.Is(err, workspace.ErrForeign) || errors.Is(err, workspace.ErrRejected) {
		return instance.Result{Status: instance.Failure, Summary: err.Error(), IssuesFound: []string{err.Error()}}, nil
	}
	if no := new(outbound.Refusal); errors.As(err, &no) {
		return forgeside.Unsendable(no), nil
	}
	return instance.Result{
		Status: instance.Success, ConfidenceScore: 1, Summary: fmt.Sprintf("%s is on %s", job.Head, branch),
		Data: map[string]string{"branch": branch, "commit": job.Head},
	}, err
}

// Branch returns the name of the branch of a task, such as signalbox/task-plan-TASK-001.
func Branch(id string) string {
	words := strings.FieldsFunc(id, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	})
	return "signalbox/task-" + strings.Join(words, "-")
}
