// Package app is the shepherd: it takes a story's code to the forge, and its
// pull request to the merge (story lifecycle). Every effect on the forge is
// looked for before it is made: made twice it is made once.
package app

import (
	"context"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/workflow"
)

// host is a forge as the shepherd uses it.
type host interface {
	forge.Observer
	forge.Writer
	forge.Merger
	forge.Responder
}

// shepherd does the shepherd's work. It implements agent.Handler.
type shepherd struct {
	forge     host
	workspace *workspace.Cache
	token     string
	now       func() time.Time
}

// Work implements agent.Handler.
func (s *shepherd) Work(ctx context.Context, job agent.Job) (instance.Result, error) {
	return forgeside.Work(ctx, job, s.work)
}

func (s *shepherd) work(ctx context.Context, job agent.Job) (instance.Result, error) {
	switch {
	case job.Issue.Repo == "":
		return instance.Result{}, forgeside.EscalateToPeople("the story names no repository")
	case job.Question != nil:
		return s.inform(ctx, job)
	case job.Work.Does == workflow.OpenPullRequest:
		return s.propose(ctx, job)
	case job.Work.Does == workflow.TendPullRequest:
		return s.tend(ctx, job)
	}
	return instance.Result{}, fmt.Errorf("the shepherd has nothing to do in %s, whose work is %s", job.State, job.Work)
}

// done is a result with what it has the instance remember: names and values in turn.
func done(summary string, data ...string) instance.Result {
	return forgeside.WithData(instance.Result{Status: instance.Success, ConfidenceScore: 1, Summary: summary}, data...)
}

// remote is where the repository is pushed to and fetched from.
func (s *shepherd) remote(r forge.Repository) workspace.Remote {
	return workspace.Remote{URL: r.CloneURL, Token: s.token}
}
