// Package app is the shepherd: it pushes a story's code to the forge and brings its pull
// request to the merge (story lifecycle). It looks for every effect on the forge before
// it makes it, so that a repeated job makes it once.
package app

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
)

// forgeClient is the part of a forge that the shepherd uses.
type forgeClient interface {
	forge.Observer
	forge.Writer
	forge.Closer
	forge.Merger
	forge.Responder
	forge.Failures
	forge.Publisher
}

// shepherd does the shepherd's work. It implements agent.Handler.
type shepherd struct {
	forge   forgeClient
	gate    forgeside.Gate
	command string // the word after the slash of commands in comments; empty: there are none
	now     func() time.Time

	denied atomic.Bool // the forge takes no checks of ours
}

// Work implements agent.Handler. The state names the work, and each work is a list of phases at
// the head of its file:
//
//	inform   answers whether another pull request does the story    inform.go
//	propose  pushes the branch and opens the pull request           propose.go
//	tend     brings the pull request to its merge                   tend.go
//	watch    looks at the checks of the merge commit                watch.go
//	revert   opens a pull request that reverts the merge            revert.go
func (s *shepherd) Work(ctx context.Context, job agent.Job) (instance.Result, error) {
	return s.gate.Work(ctx, job, s.work)
}

func (s *shepherd) work(ctx context.Context, claimed agent.Job) (instance.Result, error) {
	job := request{claimed}
	switch {
	case job.Issue.Repo == "":
		return instance.Result{}, forgeside.EscalateToPeople("the story names no repository")
	case job.Question != nil:
		return s.inform(ctx, job)
	case job.Work.Does == workflow.OpenPullRequest:
		return s.propose(ctx, job)
	case job.Work.Does == workflow.TendPullRequest:
		return s.tend(ctx, job)
	case job.Work.Does == workflow.WatchMerge:
		return s.landed(ctx, job, (*landing).watch)
	case job.Work.Does == workflow.RevertMerge:
		return s.landed(ctx, job, (*landing).revert)
	}
	return instance.Result{}, fmt.Errorf("the shepherd has nothing to do in %s, whose work is %s", job.State, job.Work)
}

// done returns a success with names and values, in turn, that the instance keeps.
func done(summary string, data ...string) instance.Result {
	return forgeside.WithData(instance.Result{Status: instance.Success, ConfidenceScore: 1, Summary: summary}, data...)
}
