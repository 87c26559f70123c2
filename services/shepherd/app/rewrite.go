package app

import (
	"context"
	"fmt"

	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
	"github.com/signalbox/signalbox/pkg/forge/merge"
)

// rewritten takes the branch over if the commit that we last brought to it is gone from it:
// a person pushed by force.
func (t *visit) rewritten(ctx context.Context) (r instance.Result, done bool, err error) {
	if t.job.Base == "" || t.snapshot.Head == t.job.Head || t.snapshot.Head == t.published() {
		return r, false, nil
	}
	repo, err := t.repository(ctx, t.job)
	if err != nil {
		return r, false, err
	}
	j, err := t.gate.Workspace.MergeBranch(ctx, t.meeting(ctx, repo, t.job.Head, t.snapshot.HeadRef))
	if err != nil || !j.Rewritten {
		return r, false, err
	}
	return t.takeOver(j), true, nil
}

// published returns the commit that we last brought to the branch. A story that came with
// its pull request began with it.
func (t *visit) published() string {
	if pushed := t.job.Vars["pushed"]; pushed != "" {
		return pushed
	}
	return t.job.Base
}

// meeting returns the request to merge a branch with the work at a commit.
func (t *visit) meeting(ctx context.Context, repo forge.Repository, head, branch string) workspace.Meeting {
	m := workspace.Meeting{
		Repo: repo.Name, Bundles: forgeside.BundleObjects(t.job.Job), Base: t.job.Base, Head: head, From: t.gate.Remote(ctx, repo), Branch: branch,
		Message: fmt.Sprintf("Merge %s into %s", branch, t.snapshot.HeadRef),
	}
	if branch == t.snapshot.HeadRef {
		m.Published = t.published()
	}
	return m
}

// takeOver returns the result of a visit to a branch that was rewritten: the work goes on
// from there, and the acceptance criteria are run on it. The implementer's answer meanwhile
// was made on other commits; its remarks are worked in again.
func (t *visit) takeOver(j workspace.Joined) instance.Result {
	who := "a person"
	for _, p := range t.snapshot.Pushes {
		if p.After == j.Theirs && p.By.Login != "" && p.By.ID != t.snapshot.Self.ID {
			who = p.By.Login
		}
	}
	r := t.outcome("reviewed", "%s moved the branch by force from %.7s to %.7s: the work goes on from there", who, t.published(), j.Theirs)
	r = forgeside.WithData(r, "pushed", j.Theirs, "lastActivityBy", merge.Reviewer)
	if q, answered := t.answer(); answered {
		r = forgeside.WithData(r, "answered", fmt.Sprint(q.Number))
	}
	r.Head, r.Bundle = j.Theirs, j.Bundle
	r = t.requireNewRun(r)
	r.Evidence[len(r.Evidence)-1].Commit = j.Theirs
	return r
}
