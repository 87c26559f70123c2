// Package app is the PM: the only voice of Signalbox towards people. It asks
// through issue comments, reads the answers, and opens the pull request.
package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/instance"
)

// bridge does the PM's work. Every effect on the forge follows an event that
// decided it, carries a marker, and is looked for before it is made: made twice
// it is made once. It implements agent.Handler.
type bridge struct {
	reader    forge.Reader
	writer    forge.Writer
	workspace *workspace.Cache
	token     string
	log       *slog.Logger
}

// Work implements agent.Handler.
func (b *bridge) Work(ctx context.Context, job agent.Job) (instance.Result, error) {
	switch job.State {
	case "received":
		return b.receive(ctx, job)
	case "requirements_unclear":
		return b.ask(ctx, job)
	case "blocked":
		return b.plead(ctx, job)
	case "creating_pr":
		return b.submit(ctx, job)
	}
	return b.judge(ctx, job)
}

// judge is for what has no effect outside. Whose words count is asked of the
// forge, for what somebody may do changes.
func (b *bridge) judge(ctx context.Context, job agent.Job) (instance.Result, error) {
	may := map[string]bool{job.Issue.Author: true}
	for _, n := range job.Notes {
		if _, known := may[n.Author]; known || job.Issue.Number == 0 || strings.HasPrefix(n.Author, "operator") {
			may[n.Author] = may[n.Author] || !known
			continue
		}
		permission, err := b.reader.Permission(ctx, job.Issue.Repo, n.Author)
		if err != nil && !errors.Is(err, forge.ErrNotFound) {
			return instance.Result{}, fault(err)
		}
		may[n.Author] = permission == "write" || permission == "maintain" || permission == "admin"
	}
	out, err := rules.PM{MayAnswer: func(login string) bool { return may[login] }}.Work(ctx, job.Assignment)
	return out.Result, err
}

// receive takes a snapshot of the code that the work starts from.
func (b *bridge) receive(ctx context.Context, job agent.Job) (instance.Result, error) {
	r, err := b.judge(ctx, job)
	if err != nil || r.Status != instance.Success || job.Issue.Repo == "" || job.Base != "" {
		return r, err
	}
	repo, err := b.reader.Repository(ctx, job.Issue.Repo)
	if err != nil {
		return r, fault(err)
	}
	job.Progress("fetching %s at %s", repo.Name, repo.DefaultBranch)
	r.Base, r.Bundle, err = b.workspace.Snapshot(ctx, repo.Name, workspace.Remote{URL: repo.CloneURL, Token: b.token}, repo.DefaultBranch)
	r.Data = map[string]string{"branch": repo.DefaultBranch}
	return r, err
}

// ask posts the open questions as one comment.
func (b *bridge) ask(ctx context.Context, job agent.Job) (instance.Result, error) {
	r, err := b.judge(ctx, job)
	open := job.Open()
	if err != nil || r.Status != instance.Success || len(open) == 0 {
		return r, err
	}
	key := fmt.Sprintf("questions-%d-%d", open[0].Number, open[len(open)-1].Number)
	return b.say(ctx, job, key, rules.Questions(job.Assignment), r)
}

// plead asks people about an obstacle.
func (b *bridge) plead(ctx context.Context, job agent.Job) (instance.Result, error) {
	r, err := b.judge(ctx, job)
	if err != nil || r.Status != instance.Success {
		return r, err
	}
	return b.say(ctx, job, fmt.Sprintf("blocked-%d", job.Attempt), rules.Obstacle(job.Assignment), r)
}

// say posts a comment once and adds its address to the result. An instance that
// is on no forge keeps its words in the log alone.
func (b *bridge) say(ctx context.Context, job agent.Job, key, body string, r instance.Result) (instance.Result, error) {
	if job.Issue.Number == 0 {
		return r, nil
	}
	c, err := b.post(ctx, job.Instance, job.Issue, key, body)
	if err != nil {
		return r, fault(err)
	}
	r.Data = map[string]string{"comment_url": c.URL}
	return r, nil
}

// fault tells a forge that cannot be reached from one that says no.
func fault(err error) error {
	if errors.Is(err, forge.ErrUnavailable) || errors.Is(err, forge.ErrRateLimited) {
		return fmt.Errorf("%w: %w", brain.ErrInfrastructure, err)
	}
	return err
}
