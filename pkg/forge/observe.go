package forge

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/forge/merge"
)

// Observer is what Observe reads with.
type Observer interface {
	Reader
	Reviews
	Members
	Checks
	History
}

// Observation is the pull request to be observed.
type Observation struct {
	Repo   string
	Number int
	// Organisations are those whose members are trusted. If there are none, users with
	// write permission are.
	Organisations []string
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Observe reads a pull request and all that its merge depends on, once. All parts are of
// the head that it read first; the snapshot says whether that moved meanwhile, and which
// parts the forge refused to show. Observe fails if the pull request cannot be read, a
// limit is reached (ErrRateLimited) or the context ends.
func Observe(ctx context.Context, from Observer, what Observation) (merge.Snapshot, error) {
	o := &observation{Observation: what, ctx: ctx, from: from, persons: map[int64]merge.Person{}}
	if o.Now == nil {
		o.Now = time.Now
	}
	s, err := o.read()
	if err == nil {
		err = o.err
	}
	if err != nil {
		return merge.Snapshot{}, fmt.Errorf("observe %s#%d: %w", what.Repo, what.Number, err)
	}
	return s, nil
}

// observation is an Observe in progress. After the first error that ends it, it reads
// nothing more.
type observation struct {
	Observation
	ctx     context.Context
	from    Observer
	s       merge.Snapshot
	persons map[int64]merge.Person
	err     error
}

func (o *observation) read() (merge.Snapshot, error) {
	self, err := o.from.Account(o.ctx)
	if err != nil {
		return o.s, err
	}
	pr, err := o.from.PullRequest(o.ctx, o.Repo, o.Number)
	if err != nil {
		return o.s, err
	}
	o.s = merge.Snapshot{
		Repo: o.Repo, Number: o.Number, Head: pr.HeadSHA, Title: pr.Title, State: pr.State, Merged: pr.Merged, MergeSHA: pr.MergeSHA, Draft: pr.Draft,
		HeadRef: pr.HeadRef, HeadRepo: pr.HeadRepo, BaseRef: pr.BaseRef, Mergeable: pr.Mergeable, MergeableState: pr.MergeableState,
		Labels: pr.Labels, Requested: pr.Requested, Self: person(self), Author: person(pr.Author),
	}
	o.protection()
	o.checks()
	o.reviews()
	o.reviewState()
	o.comments()
	o.pushes()
	o.behind()
	o.queued()
	if o.err != nil {
		return o.s, o.err
	}
	// Read last: only then is it known whether all parts above are of this head.
	again, err := o.from.PullRequest(o.ctx, o.Repo, o.Number)
	if err != nil {
		return o.s, err
	}
	if again.HeadSHA != o.s.Head {
		o.s.Moved = again.HeadSHA
	}
	if again.BaseRef != o.s.BaseRef {
		o.s.Unread = append(o.s.Unread, merge.Unread{Part: merge.PartProtection, Why: "the base became " + again.BaseRef + " while it was read"})
	}
	o.s.State, o.s.Merged, o.s.MergeSHA, o.s.Draft, o.s.Labels = again.State, again.Merged, again.MergeSHA, again.Draft, again.Labels
	o.s.Requested = again.Requested
	o.s.Mergeable, o.s.MergeableState, o.s.BaseRef = again.Mergeable, again.MergeableState, again.BaseRef
	o.s.ReadAt = o.Now().UTC()
	return o.s, nil
}

// part records the error of reading a part, and reports whether the part can be used.
func (o *observation) part(part merge.Part, err error) bool {
	switch {
	case err == nil:
		return true
	case o.err != nil:
	case o.ctx.Err() != nil, errors.Is(err, ErrRateLimited):
		o.err = err
	default:
		o.s.Unread = append(o.s.Unread, merge.Unread{Part: part, Why: err.Error()})
	}
	return false
}

// ask reads a part, unless the observation has ended.
func ask[T any](o *observation, part merge.Part, read func() (T, error)) (T, bool) {
	var answer T
	if o.err != nil {
		return answer, false
	}
	answer, err := read()
	return answer, o.part(part, err)
}

func person(u User) merge.Person { return merge.Person{ID: u.ID, Login: u.Login, Bot: u.Bot} }

// known returns the person with their permission and membership. Values that cannot be
// read stay empty.
func (o *observation) known(u User) merge.Person {
	p, ok := o.persons[u.ID]
	if ok || u.ID == 0 || o.err != nil {
		return p
	}
	p = person(u)
	defer func() { o.persons[u.ID] = p }()
	permission, err := o.from.Permission(o.ctx, o.Repo, u.Login)
	switch {
	case err == nil:
		p.Permission = permission
	case errors.Is(err, ErrNotFound):
		p.Permission = "none"
	case o.ctx.Err() != nil, errors.Is(err, ErrRateLimited):
		o.err = err
		return p
	}
	p.Member = o.membership(u, p.Permission)
	return p
}

// membership returns yes if one organisation has the user as a member, no if none has,
// "" if that cannot be read.
func (o *observation) membership(u User, permission string) string {
	if len(o.Organisations) == 0 {
		switch permission {
		case "":
			return ""
		case "admin", "maintain", "write":
			return "yes"
		}
		return "no"
	}
	answer := "no"
	for _, organisation := range o.Organisations {
		member, err := o.from.Member(o.ctx, organisation, u.Login)
		switch {
		case err == nil && member:
			return "yes"
		case err == nil, errors.Is(err, ErrNotFound):
		case o.ctx.Err() != nil, errors.Is(err, ErrRateLimited):
			o.err = err
			return ""
		default:
			answer = ""
		}
	}
	return answer
}

func (o *observation) protection() {
	if p, ok := ask(o, merge.PartProtection, func() (Protection, error) {
		return o.from.Protection(o.ctx, o.Repo, o.s.BaseRef)
	}); ok {
		o.s.Protection = p
	}
}

// checks reads statuses and runs. If one of them cannot be read, it uses neither.
func (o *observation) checks() {
	if checks, ok := ask(o, merge.PartChecks, func() ([]merge.Check, error) {
		return ChecksOf(o.ctx, o.from, o.Repo, o.s.Head)
	}); ok {
		o.s.Checks = checks
	}
}

// ChecksOf reads the statuses and the check runs of a commit.
func ChecksOf(ctx context.Context, from Checks, repo, sha string) (all []merge.Check, err error) {
	statuses, err := from.Statuses(ctx, repo, sha)
	if err != nil {
		return nil, err
	}
	runs, err := from.CheckRuns(ctx, repo, sha)
	if err != nil {
		return nil, err
	}
	for _, s := range statuses {
		all = append(all, merge.Check{Name: s.Context, Kind: "status", State: s.State, Note: s.Description, URL: s.URL, At: s.At})
	}
	for _, r := range newest(runs) {
		c := merge.Check{Name: r.Name, Kind: "run", ID: r.ID, App: r.App, State: r.Status, Note: r.Title, URL: r.URL, At: later(r.StartedAt, r.CompletedAt)}
		if r.Status == "completed" {
			c.State = r.Conclusion
		}
		if r.Older > 0 {
			c.Note = strings.TrimPrefix(fmt.Sprintf("%s; %d older of this name on the commit do not count", c.Note, r.Older), "; ")
		}
		all = append(all, c)
	}
	return all, nil
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

func (o *observation) reviewState() {
	if s, ok := ask(o, merge.PartReviewState, func() (ReviewState, error) { return o.from.ReviewState(o.ctx, o.Repo, o.Number) }); ok {
		o.s.Decision, o.s.Threads, o.s.Methods, o.s.Retargeted = s.Decision, s.Threads, s.Methods, s.Retargeted
	}
}

// comments reads the comments on lines and those on the whole. If one kind cannot be
// read, it keeps the other.
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

// pushes reads the moves of the branch, in the repository of the branch.
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

// queued reads the merge queue of a base that has one.
func (o *observation) queued() {
	if !o.s.Protection.Queue {
		return
	}
	if q, ok := ask(o, merge.PartQueue, func() (merge.Queued, error) { return o.from.Queued(o.ctx, o.Repo, o.Number) }); ok {
		o.s.Queued = &q
	}
}
