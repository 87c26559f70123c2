package app

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
)

// build merges the default branch, and then the branches of the tasks that this one builds
// on, into the task's work. It leaves conflicts to the developer, between git's conflict
// marks. Work with such marks is not committed.
func (m *manager) build(ctx context.Context, job agent.Job, repo forge.Repository) (instance.Result, error) {
	head, bundle, bundles := job.Head, "", forgeside.BundleObjects(job)
	branches := []string{repo.DefaultBranch}
	for id := range strings.SplitSeq(job.Vars["builds_on"], ",") {
		if id = strings.TrimSpace(id); id != "" {
			branches = append(branches, Branch(id))
		}
	}
	var said, conflicts []string
	for _, branch := range branches {
		job.Progress("joining %s", branch)
		j, err := m.gate.Workspace.MergeBranch(ctx, workspace.Meeting{
			Repo: repo.Name, Bundles: bundles, Base: job.Base, Head: head, From: m.gate.Remote(ctx, repo), Branch: branch, Message: "Join " + branch,
		})
		if errors.Is(err, workspace.ErrSource) {
			said = append(said, "there is no branch "+branch)
			continue
		}
		if err != nil {
			return instance.Result{}, err
		}
		if j.Bundle != "" {
			bundle, bundles = j.Bundle, append(bundles, j.Bundle)
		}
		head, conflicts = j.Head, append(conflicts, j.Conflicts...)
		said = append(said, fmt.Sprintf("%s is at %.12s", branch, j.Theirs))
	}
	if len(conflicts) > 0 {
		said = append(said, "they conflict in "+strings.Join(conflicts, ", "))
	}
	r := instance.Result{
		Status: instance.Success, ConfidenceScore: 1, Data: map[string]string{"starts_at": head}, IssuesFound: conflicts,
		Summary: fmt.Sprintf("the work starts at %.12s: %s", head, strings.Join(said, "; ")),
	}
	if head != job.Head {
		r.Head, r.Bundle = head, bundle
	}
	return r, nil
}
