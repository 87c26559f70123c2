package app

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
)

// inform answers a question of a role about the forge: whether a pull request does the
// story already. A story without code gets the code that its work starts from.
func (s *shepherd) inform(ctx context.Context, job request) (instance.Result, error) {
	repo, err := s.repository(ctx, job)
	if err != nil {
		return instance.Result{}, err
	}
	self, err := s.forge.Self(ctx)
	if err != nil {
		return instance.Result{}, err
	}
	ours := func(pr forge.PullRequest) bool {
		return forgeside.Ours(pr, self, job.Instance, repo.Name) || pr.HeadRef == job.branch() && pr.Author.Login == self && strings.Contains(pr.Body, job.marker())
	}
	r, err := s.duplicate(ctx, job, ours)
	if err == nil && r.Data["duplicate"] == "" {
		err = s.unknown(ctx, job, ours)
	}
	if err != nil || job.Base != "" || r.Data["duplicate"] != "" {
		return r, err
	}
	job.Progress("fetching %s at %s", repo.Name, repo.DefaultBranch)
	r.Base, r.Bundle, err = s.gate.Workspace.Snapshot(ctx, repo.Name, s.gate.Remote(ctx, repo), repo.DefaultBranch)
	return r, forgeside.ToPeople(err, workspace.ErrSource)
}

// repository reads the repository. It escalates to people if there is none.
func (s *shepherd) repository(ctx context.Context, job request) (forge.Repository, error) {
	repo, err := s.forge.Repository(ctx, job.Issue.Repo)
	return repo, forgeside.ToPeople(err, forge.ErrNotFound, forge.ErrInvalid)
}

// unknown escalates to people if the story's branch has a pull request that the log does not
// know, as after a restore: one that is open, or one of ours that is merged. Nothing on it is
// trusted, and no developer is paid before people have looked at it.
func (s *shepherd) unknown(ctx context.Context, job request, ours func(forge.PullRequest) bool) error {
	if job.Vars["branch"] != "" { // its work began elsewhere
		return nil
	}
	all, err := s.forge.PullRequestsByHead(ctx, job.Issue.Repo, job.branch())
	if err != nil {
		return err
	}
	for _, pr := range all {
		switch {
		case pr.Number == job.number("prNumber"):
			return nil
		case pr.State == "open":
			whose := "is not mine"
			if ours(pr) {
				whose = "is mine, though the log does not know it, as after a restore"
			}
			return forgeside.EscalateToPeople("pull request #%d from %s is open, and %s: %s. Merge it and cancel this story, "+
				"or close it, delete its branch and say “go ahead” to have the story done", pr.Number, pr.HeadRef, whose, pr.URL)
		case pr.Merged && ours(pr) && !forgeside.ToldToGoOn(job.Job):
			return forgeside.EscalateToPeople("pull request #%d from %s is mine and is merged, though the log does not know it, as after a restore: %s. "+
				"Cancel this story if that did it, or say “go ahead” to have it done again", pr.Number, pr.HeadRef, pr.URL)
		}
	}
	return nil
}

// duplicate looks for another pull request that does the story: one that closes its issue
// and is open, or is merged and has closed it. A mention of the issue is not enough.
func (s *shepherd) duplicate(ctx context.Context, job request, ours func(forge.PullRequest) bool) (instance.Result, error) {
	issue := job.Issue.Number
	switch {
	case job.text("check_duplicates") == "false":
		return done("The policy has nobody look for one."), nil
	case issue == 0:
		return done("No issue belongs to the story, so no pull request can be matched to it."), nil
	}
	found, err := s.forge.Mentions(ctx, job.Issue.Repo, issue)
	if err != nil {
		return instance.Result{}, forgeside.ToPeople(err, forge.ErrNotFound)
	}
	var others []string
	for _, m := range found {
		why, err := s.does(ctx, job, m, ours)
		if err != nil {
			return instance.Result{}, err
		}
		if why != "" {
			return done(fmt.Sprintf("Pull request #%d %s: %s", m.Number, why, m.URL), "duplicate", strconv.Itoa(m.Number)), nil
		}
		others = append(others, fmt.Sprintf("#%d (%s)", m.Number, m.State))
	}
	if others != nil {
		return done(fmt.Sprintf("No pull request does issue #%d; these mention it: %s.", issue, strings.Join(others, ", "))), nil
	}
	return done(fmt.Sprintf("No pull request mentions issue #%d.", issue)), nil
}

// does returns how a pull request does the story, "" if it does not.
func (s *shepherd) does(ctx context.Context, job request, m forge.Mention, ours func(forge.PullRequest) bool) (string, error) {
	if !m.Closes || m.State != "open" && m.State != "merged" {
		return "", nil
	}
	pr, err := s.forge.PullRequest(ctx, job.Issue.Repo, m.Number)
	if errors.Is(err, forge.ErrNotFound) {
		return "", nil
	}
	if err != nil || ours(pr) {
		return "", err
	}
	switch {
	case pr.State == "open":
		return fmt.Sprintf("is open and closes issue #%d", job.Issue.Number), nil
	case !pr.Merged:
		return "", nil
	}
	issue, err := s.forge.Issue(ctx, job.Issue.Repo, job.Issue.Number)
	if err != nil || issue.State != "closed" {
		return "", err // what was merged did not do it: the issue is open again
	}
	return fmt.Sprintf("is merged and has closed issue #%d", job.Issue.Number), nil
}
