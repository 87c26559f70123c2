package app

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
)

// propose pushes the story's branch and opens a draft pull request for it, each once
// (story lifecycle, committed). The branch is known by its name, the pull request by its
// branch, its author and its marker.
func (s *shepherd) propose(ctx context.Context, job request) (instance.Result, error) {
	repo, err := s.repository(ctx, job)
	if err != nil {
		return instance.Result{}, err
	}
	if job.text("check_duplicates") != "false" && job.Vars["branch"] == "" {
		if err := forgeside.Alone(ctx, s.forge, s.gate, job.Job, repo); err != nil {
			return instance.Result{}, err
		}
	}
	branch := job.branch()
	var adopted instance.Result
	if job.Base == "" { // the branch was pushed before the story was opened
		if adopted, err = s.adopt(ctx, repo, branch); err != nil {
			return instance.Result{}, err
		}
		job.Base, job.Head = adopted.Base, adopted.Base
		job.Bundles = []instance.Bundle{{Object: adopted.Bundle, Head: adopted.Base}}
	}
	job.Progress("pushing %s", branch)
	if err := forgeside.ToPeople(s.gate.Push(ctx, job.Job, repo, branch), workspace.ErrForeign, workspace.ErrRejected); err != nil {
		return instance.Result{}, err
	}
	pr, own, err := s.gate.Propose(ctx, s.forge, job.Job, forgeside.Proposal{Repo: repo, Branch: branch, Draft: true, Text: job.pullRequest()})
	if err == nil && !own && job.Vars["branch"] == "" {
		err = forgeside.EscalateToPeople("pull request #%d is for branch %s, and is not mine: %s", pr.Number, branch, pr.URL)
	}
	if err = forgeside.ToPeople(err, forge.ErrInvalid); err != nil {
		return instance.Result{}, err
	}
	r := done(fmt.Sprintf("pull request #%d is open: %s", pr.Number, pr.URL),
		"prNumber", strconv.Itoa(pr.Number), "branch", branch, "pushed", job.Head, "seen", listed(nil))
	if !pr.Draft && job.Vars["branch"] == "" { // the repository has no drafts, so nobody ended one
		r = forgeside.WithData(r, "readied", readiedByUs)
	}
	r.Base, r.Bundle = adopted.Base, adopted.Bundle
	return r, nil
}

// repository reads the repository. It escalates to people if there is none.
func (s *shepherd) repository(ctx context.Context, job request) (forge.Repository, error) {
	repo, err := s.forge.Repository(ctx, job.Issue.Repo)
	return repo, forgeside.ToPeople(err, forge.ErrNotFound, forge.ErrInvalid)
}

// adopt takes the branch on the forge as the work so far.
func (s *shepherd) adopt(ctx context.Context, repo forge.Repository, branch string) (r instance.Result, err error) {
	r.Base, r.Bundle, err = s.gate.Workspace.Snapshot(ctx, repo.Name, s.gate.Remote(ctx, repo), branch)
	if errors.Is(err, workspace.ErrSource) {
		err = forgeside.EscalateToPeople("%v; push it, or move the story to pending to have it done again", err)
	}
	return r, err
}
