package role

import (
	"context"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// original gives a handler the jobs about the copy of an issue under the number and the
// URL of the issue itself. It implements agent.Handler.
type original struct {
	agent.Handler
	issue instance.Issue // zero: none has a copy
	whole Whole
}

// Whole is a report that is too long for an issue.
type Whole struct {
	Title string // of the issue that has parts of it
	Text  string // all of it; empty: the issue has all
}

// Work implements agent.Handler.
func (o original) Work(ctx context.Context, job agent.Job) (instance.Result, error) {
	if o.issue.Title != "" && job.Issue.Title == o.issue.Title {
		job.Issue.Number, job.Issue.URL = o.issue.Number, o.issue.URL
	}
	if o.whole.Text != "" && job.Issue.Title == o.whole.Title {
		job.Assignment.Report = o.whole.Text
	}
	return o.Handler.Work(ctx, job)
}
