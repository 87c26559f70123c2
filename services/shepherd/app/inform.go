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

// inquiry is a question of a role about the forge.
type inquiry struct {
	*shepherd
	job  request
	repo forge.Repository
	self string // the login of our account
}

// inform answers whether another pull request does the story already. A story without code gets
// the code that its work starts from.
func (s *shepherd) inform(ctx context.Context, job request) (instance.Result, error) {
	repo, err := s.repository(ctx, job)
	if err != nil {
		return instance.Result{}, err
	}
	self, err := s.forge.Self(ctx)
	if err != nil {
		return instance.Result{}, err
	}
	q := &inquiry{shepherd: s, job: job, repo: repo, self: self}
	r, err := q.duplicate(ctx)
	if err != nil || r.Data["duplicate"] != "" {
		return r, err
	}
	if err := q.unknown(ctx); err != nil || job.Base != "" {
		return r, err
	}
	job.Progress("fetching %s at %s", repo.Name, repo.DefaultBranch)
	r.Base, r.Bundle, err = s.gate.Workspace.Snapshot(ctx, repo.Name, s.gate.Remote(ctx, repo), repo.DefaultBranch)
	return r, forgeside.ToPeople(err, workspace.ErrSource)
}

// ours reports whether a pull request is the story's own.
func (q *inquiry) ours(pr forge.PullRequest) bool {
	return forgeside.Ours(pr, q.self, q.job.Instance, q.repo.Name) ||
		pr.HeadRef == q.job.branch() && pr.Author.Login == q.self && strings.Contains(pr.Body, q.job.marker())
}

// unknown escalates to people if the story's branch has a pull request that the log does not
// know, as after a restore: one that is open, or one of ours that is merged. Nothing on it is
// trusted, and no developer is paid before people have looked at it.
func (q *inquiry) unknown(ctx context.Context) error {
	if q.job.Vars["branch"] != "" { // its work began elsewhere
		return nil
	}
	all, err := q.forge.PullRequestsByHead(ctx, q.repo.Name, q.job.branch())
	if err != nil {
		return err
	}
	for _, pr := range all {
		switch {
		case pr.Number == q.job.number("prNumber"):
			return nil
		case pr.State == "open":
			whose := "is not mine"
			if q.ours(pr) {
				whose = "is mine, though the log does not know it, as after a restore"
			}
			return forgeside.EscalateToPeople("pull request #%d from %s is open, and %s: %s. Merge it and cancel this story, "+
				"or close it, delete its branch and say “go ahead” to have the story done", pr.Number, pr.HeadRef, whose, pr.URL)
		case pr.Merged && q.ours(pr) && !forgeside.ToldToGoOn(q.job.Job):
			return forgeside.EscalateToPeople("pull request #%d from %s is mine and is merged, though the log does not know it, as after a restore: %s. "+
				"Cancel this story if that did it, or say “go ahead” to have it done again", pr.Number, pr.HeadRef, pr.URL)
		}
	}
	return nil
}

// duplicate looks for another pull request that does the story: one that closes its issue
// and is open, or is merged and has closed it. A mention of the issue is not enough.
func (q *inquiry) duplicate(ctx context.Context) (instance.Result, error) {
	issue := q.job.Issue.Number
	switch {
	case q.job.text("check_duplicates") == "false":
		return done("The policy has nobody look for one."), nil
	case issue == 0:
		return done("No issue belongs to the story, so no pull request can be matched to it."), nil
	}
	found, err := q.forge.Mentions(ctx, q.repo.Name, issue)
	if err != nil {
		return instance.Result{}, forgeside.ToPeople(err, forge.ErrNotFound)
	}
	var others []string
	for _, m := range found {
		why, err := q.does(ctx, m)
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
func (q *inquiry) does(ctx context.Context, m forge.Mention) (string, error) {
	if !m.Closes || m.State != "open" && m.State != "merged" {
		return "", nil
	}
	pr, err := q.forge.PullRequest(ctx, q.repo.Name, m.Number)
	if errors.Is(err, forge.ErrNotFound) {
		return "", nil
	}
	if err != nil || q.ours(pr) {
		return "", err
	}
	switch {
	case pr.State == "open":
		return fmt.Sprintf("is open and closes issue #%d", q.job.Issue.Number), nil
	case !pr.Merged:
		return "", nil
	}
	issue, err := q.forge.Issue(ctx, q.repo.Name, q.job.Issue.Number)
	if err != nil || issue.State != "closed" {
		return "", err // what was merged did not do it: the issue is open again
	}
	return fmt.Sprintf("is merged and has closed issue #%d", q.job.Issue.Number), nil
}
