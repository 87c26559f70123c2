package forge

import (
	"time"

	"github.com/signalbox/signalbox/pkg/merge"
)

func (o *observation) protection() {
	if p, ok := ask(o, merge.PartProtection, func() (Protection, error) {
		return o.from.Protection(o.ctx, o.Repo, o.s.BaseRef)
	}); ok {
		o.s.Protection = p
	}
}

// checks reads statuses and runs; if one of them cannot be read, neither is
// known.
func (o *observation) checks() {
	statuses, ok := ask(o, merge.PartChecks, func() ([]Status, error) { return o.from.Statuses(o.ctx, o.Repo, o.s.Head) })
	if !ok {
		return
	}
	runs, ok := ask(o, merge.PartChecks, func() ([]CheckRun, error) { return o.from.CheckRuns(o.ctx, o.Repo, o.s.Head) })
	if !ok {
		return
	}
	for _, s := range statuses {
		o.s.Checks = append(o.s.Checks, merge.Check{Name: s.Context, Kind: "status", State: s.State, Note: s.Description, URL: s.URL, At: s.At})
	}
	for _, r := range runs {
		c := merge.Check{Name: r.Name, Kind: "run", App: r.App, State: r.Status, Note: r.Title, URL: r.URL, At: later(r.StartedAt, r.CompletedAt)}
		if r.Status == "completed" {
			c.State = r.Conclusion
		}
		o.s.Checks = append(o.s.Checks, c)
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (o *observation) reviews() {
	reviews, _ := ask(o, merge.PartReviews, func() ([]Review, error) { return o.from.Reviews(o.ctx, o.Repo, o.Number) })
	for _, r := range reviews {
		o.s.Reviews = append(o.s.Reviews, merge.Review{
			ID: r.ID, By: o.known(r.Author), State: r.State, Commit: r.Commit, Body: r.Body, URL: r.URL, At: r.At,
		})
	}
}

func (o *observation) standing() {
	if s, ok := ask(o, merge.PartStanding, func() (Standing, error) { return o.from.Standing(o.ctx, o.Repo, o.Number) }); ok {
		o.s.Decision, o.s.Threads, o.s.Methods = s.Decision, s.Threads, s.Methods
	}
}

// comments reads those on lines and those on the whole; if one kind cannot be
// read, the other is kept: what is new there is new.
func (o *observation) comments() {
	lines, _ := ask(o, merge.PartComments, func() ([]ReviewComment, error) { return o.from.ReviewComments(o.ctx, o.Repo, o.Number) })
	for _, c := range lines {
		o.s.Comments = append(o.s.Comments, merge.Comment{
			ID: c.ID, By: o.known(c.Author), Body: c.Body, Path: c.Path, Line: c.Line, URL: c.URL, At: c.CreatedAt,
		})
	}
	all, _ := ask(o, merge.PartComments, func() ([]Comment, error) { return o.from.Comments(o.ctx, o.Repo, o.Number, time.Time{}) })
	for _, c := range all {
		o.s.Comments = append(o.s.Comments, merge.Comment{ID: c.ID, By: o.known(c.Author), Body: c.Body, URL: c.URL, At: c.CreatedAt})
	}
}

// pushes reads who moved the branch. A branch of a fork has its pushes there.
func (o *observation) pushes() {
	pushes, _ := ask(o, merge.PartPushes, func() ([]Push, error) { return o.from.Pushes(o.ctx, o.s.HeadRepo, o.s.HeadRef) })
	for _, p := range pushes {
		o.s.Pushes = append(o.s.Pushes, merge.Push{After: p.After, By: person(p.Actor), At: p.At})
	}
}

func (o *observation) behind() {
	if n, ok := ask(o, merge.PartBase, func() (int, error) { return o.from.Behind(o.ctx, o.Repo, o.s.BaseRef, o.s.Head) }); ok {
		o.s.Behind = n
	}
}
