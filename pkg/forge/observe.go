package forge

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/pkg/merge"
)

// Observer is all that Observe reads with.
type Observer interface {
	Reader
	Reviews
	Members
	Checks
	History
}

// Observation is what is to be observed.
type Observation struct {
	Repo   string
	Number int
	// Organisations are those whose members are listened to. None listens to
	// everybody who can write to the repository.
	Organisations []string
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Observe reads the world of a pull request once. All of it is about the head
// it began with; whether that moved meanwhile is in the snapshot. A part the
// forge refuses to show is unread in it. It fails as a whole when the pull
// request cannot be read, when a limit is reached (ErrRateLimited) or when
// the context ends: then nothing is known.
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

// observation is one in progress. After the first error that ends it nothing
// more is asked.
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
		Repo: o.Repo, Number: o.Number, Head: pr.HeadSHA, State: pr.State, Merged: pr.Merged, MergeSHA: pr.MergeSHA, Draft: pr.Draft,
		HeadRef: pr.HeadRef, HeadRepo: pr.HeadRepo, BaseRef: pr.BaseRef, Mergeable: pr.Mergeable, MergeableState: pr.MergeableState,
		Labels: pr.Labels, Self: person(self), Author: person(pr.Author),
	}
	o.protection()
	o.checks()
	o.reviews()
	o.standing()
	o.comments()
	o.pushes()
	o.behind()
	if o.err != nil {
		return o.s, o.err
	}
	// Last, so that what was read above is of this head or known not to be.
	again, err := o.from.PullRequest(o.ctx, o.Repo, o.Number)
	if err != nil {
		return o.s, err
	}
	if again.HeadSHA != o.s.Head {
		o.s.Moved = again.HeadSHA
	}
	o.s.State, o.s.Merged, o.s.MergeSHA, o.s.Draft, o.s.Labels = again.State, again.Merged, again.MergeSHA, again.Draft, again.Labels
	o.s.Mergeable, o.s.MergeableState, o.s.BaseRef = again.Mergeable, again.MergeableState, again.BaseRef
	o.s.ReadAt = o.Now().UTC()
	return o.s, nil
}

// part notes how the reading of a part went, and tells whether to use it.
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

// ask is a read of a part; after the end of the observation it is none.
func ask[T any](o *observation, part merge.Part, read func() (T, error)) (T, bool) {
	var answer T
	if o.err != nil {
		return answer, false
	}
	answer, err := read()
	return answer, o.part(part, err)
}

func person(u User) merge.Person { return merge.Person{ID: u.ID, Login: u.Login, Bot: u.Bot} }

// known is the person with what they may do and whether they are listened to;
// what cannot be read stays empty.
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

// membership is yes if one organisation says so, and no if all deny it.
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
