package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/agent/testrun"
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
		rival, err := forgeside.Rival(ctx, s.forge, s.gate, job.Job, repo)
		if err == nil && rival != "" {
			err = forgeside.EscalateToPeople("%s", rival)
		}
		if err != nil {
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
	if err := toPeople(s.gate.Push(ctx, job.Job, repo, branch), workspace.ErrForeign, workspace.ErrRejected); err != nil {
		return instance.Result{}, err
	}
	pr, err := s.pullRequest(ctx, job, repo, branch)
	if err != nil {
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

// adopt takes the branch on the forge as the work so far.
func (s *shepherd) adopt(ctx context.Context, repo forge.Repository, branch string) (r instance.Result, err error) {
	r.Base, r.Bundle, err = s.gate.Workspace.Snapshot(ctx, repo.Name, s.gate.Remote(ctx, repo), branch)
	if errors.Is(err, workspace.ErrSource) {
		err = forgeside.EscalateToPeople("%v; push it, or move the story to pending to have it done again", err)
	}
	return r, err
}

// pullRequest finds the story's pull request, in any state, or opens it. It escalates if
// there is one of another author for the branch.
func (s *shepherd) pullRequest(ctx context.Context, job request, repo forge.Repository, branch string) (forge.PullRequest, error) {
	self, err := s.forge.Account(ctx)
	if err != nil {
		return forge.PullRequest{}, err
	}
	ours := func(pr forge.PullRequest) bool {
		return pr.HeadRef == branch && pr.Author.ID == self.ID && strings.Contains(pr.Body, job.marker())
	}
	pr, err := forge.Propose(ctx, s.forge, forge.Proposal{
		Repo: repo.Name, Branch: branch,
		// A closed one of other work, as of a story that is done again, does not count.
		Ours: func(pr forge.PullRequest) bool { return ours(pr) && pr.HeadSHA == job.Head },
		Describe: func() (forge.NewPullRequest, error) {
			title, body, err := s.describe(ctx, job)
			return forge.NewPullRequest{Title: title, Body: body, Base: repo.DefaultBranch, Draft: true, Closes: job.Issue.Number}, err
		},
	})
	if err == nil && !ours(pr) && job.Vars["branch"] == "" {
		err = forgeside.EscalateToPeople("pull request #%d is for branch %s, and is not mine: %s", pr.Number, branch, pr.URL)
	}
	return pr, toPeople(err, forge.ErrInvalid)
}

// describe returns the title and the body of the pull request.
func (s *shepherd) describe(ctx context.Context, job request) (title, body string, err error) {
	c := rules.PullRequestContext{Closes: true} // the base is the default branch
	if job.Head != job.Base {
		entries, stat, err := s.gate.Workspace.Log(ctx, workspace.Spec{Repo: job.Issue.Repo, Bundles: forgeside.BundleObjects(job.Job),
			Base: job.Base, Head: job.Head})
		if err != nil {
			return "", "", err
		}
		c.Diffstat = stat
		for _, e := range entries {
			c.Commits = append(c.Commits, rules.Commit{SHA: e.Commit, Subject: e.Subject})
		}
	}
	a := job.Assignment
	a.Questions = slices.DeleteFunc(slices.Clone(a.Questions), func(q instance.Question) bool { return q.To != "" })
	ev, _ := job.accepted(job.Head)
	ev.Name, ev.Passed = testrun.Name, 0 // which counts criteria, not tests
	a.Evidence = []instance.Evidence{ev}
	title, body = rules.PullRequest(a, c)
	return title, body, nil
}
