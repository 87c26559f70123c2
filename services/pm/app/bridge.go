// Package app is the PM: the only voice of Signalbox towards people. It asks
// through issue comments, reads the answers, and opens the pull request.
package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/desk"
	"github.com/signalbox/signalbox/pkg/instance"
)

// bridge does the PM's work. Every effect on the forge follows an event that
// decided it, carries a marker, and is looked for before it is made: made twice
// it is made once. It implements agent.Handler.
type bridge struct {
	reader    reader
	writer    forge.Writer
	workspace *workspace.Cache
	token     string
	log       *slog.Logger
}

// reader is a forge as the PM reads it.
type reader interface {
	forge.Reader
	forge.History
}

// Work implements agent.Handler.
func (b *bridge) Work(ctx context.Context, job agent.Job) (instance.Result, error) {
	return desk.Work(ctx, job, b.work)
}

func (b *bridge) work(ctx context.Context, job agent.Job) (instance.Result, error) {
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

// judge is for what has no effect outside.
func (b *bridge) judge(ctx context.Context, job agent.Job) (instance.Result, error) {
	may := map[string]bool{}
	var failed error
	out, err := rules.PM{MayAnswer: func(login string) bool {
		if _, asked := may[login]; !asked && failed == nil {
			may[login], failed = b.mayAnswer(ctx, job.Issue, login)
		}
		return may[login]
	}}.Work(ctx, job.Assignment)
	if failed != nil {
		return instance.Result{}, desk.Fault(failed)
	}
	return out.Result, err
}

// mayAnswer reports whether somebody's words count: those of the reporter, of a
// person at Signalbox's own controls, and of who may write to the repository.
// The forge is asked each time, for what somebody may do changes.
func (b *bridge) mayAnswer(ctx context.Context, issue instance.Issue, login string) (bool, error) {
	// No login on a forge has a colon.
	if issue.Number == 0 || strings.HasPrefix(login, "operator:") || login != "" && login == issue.Author {
		return true, nil
	}
	permission, err := b.reader.Permission(ctx, issue.Repo, login)
	if errors.Is(err, forge.ErrNotFound) || errors.Is(err, forge.ErrInvalid) {
		return false, nil // nobody there
	}
	return permission == "write" || permission == "maintain" || permission == "admin", err
}

// receive takes a snapshot of the code that the work starts from.
func (b *bridge) receive(ctx context.Context, job agent.Job) (instance.Result, error) {
	r, err := b.judge(ctx, job)
	if err != nil || r.Status != instance.Success || job.Issue.Repo == "" || job.Base != "" {
		return r, err
	}
	repo, err := b.reader.Repository(ctx, job.Issue.Repo)
	if err != nil {
		return r, desk.Fault(err)
	}
	job.Progress("fetching %s at %s", repo.Name, repo.DefaultBranch)
	r.Base, r.Bundle, err = b.workspace.Snapshot(ctx, repo.Name, workspace.Remote{URL: repo.CloneURL, Token: b.token}, repo.DefaultBranch)
	return with(r, "branch", repo.DefaultBranch), err
}

// ask posts the open questions as one comment, anew each time they are to be
// asked.
func (b *bridge) ask(ctx context.Context, job agent.Job) (instance.Result, error) {
	r, err := b.judge(ctx, job)
	if err != nil || r.Status != instance.Success || len(job.Open()) == 0 {
		return r, err
	}
	return b.say(ctx, job, fmt.Sprintf("questions-%d", job.Attempt), rules.Questions(job.Assignment), r)
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
		return r, desk.Fault(err)
	}
	return with(r, "comment_url", c.URL), nil
}

// with adds to a result's data, names and values in turn.
func with(r instance.Result, data ...string) instance.Result {
	r.Data = maps.Clone(r.Data)
	if r.Data == nil {
		r.Data = map[string]string{}
	}
	for pair := range slices.Chunk(data, 2) {
		r.Data[pair[0]] = pair[1]
	}
	return r
}
