package app

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/forge"
)

// cursor is the time up to which a repository is read. It is saved only after all changes
// before it are handled, so a crash repeats some and skips none.
//
// Only the list of issues advances it. A comment that is read later says nothing about
// earlier comments on other issues.
type cursor struct {
	Since time.Time           `json:"since"`           // the newest change when the issues were listed
	Taken map[int64]time.Time `json:"taken,omitempty"` // the comments made since from that were taken, and when they were made
	// Spent is when issues and remarks of people without write permission were taken, within
	// a day: "issue LOGIN", "remark LOGIN".
	Spent map[string][]time.Time `json:"spent,omitempty"`
	// Begun is set by the first poll. Old is the highest number of the issues that were open
	// then; those are not taken up by themselves. 0: there were none, or they are taken up.
	Begun bool `json:"begun,omitempty"`
	Old   int  `json:"old,omitempty"`
	// Shut is when issues, or pull requests, were seen closed, the newest of them: one that is
	// open again was reopened.
	Shut map[int]time.Time `json:"shut,omitempty"`

	settled map[int]bool // issues whose comments need not be read again; not kept
}

// overlap is how long before the newest change the lists begin, at least. A forge shows some changes
// later than others that were made after them; what was taken already is passed over.
const overlap = 2 * time.Minute

// from returns the time since which the lists are read, zero at first. It is the same for
// a while, so that a list in which nothing changed is unchanged, and free.
func (c cursor) from() time.Time {
	if c.Since.IsZero() {
		return c.Since
	}
	return c.Since.Add(-overlap).Truncate(overlap)
}

// maxShut is how many issues are kept in Shut.
const maxShut = 2000

func (c cursor) clone() cursor {
	taken := maps.Clone(c.Taken)
	if taken == nil {
		taken = map[int64]time.Time{}
	}
	return cursor{Since: c.Since, Taken: taken, Spent: maps.Clone(c.Spent), Begun: c.Begun, Old: c.Old, Shut: maps.Clone(c.Shut)}
}

func (c *cursor) advance(at time.Time) {
	if at.After(c.Since) {
		c.Since = at
	}
}

// shut notes that an issue or a pull request was closed. If there are too many, it drops the one that was
// closed first.
func (c *cursor) shut(issue int, at time.Time) {
	if c.Shut == nil {
		c.Shut = map[int]time.Time{}
	}
	if c.Shut[issue] = at; len(c.Shut) <= maxShut {
		return
	}
	first := issue
	for n, at := range c.Shut {
		if at.Before(c.Shut[first]) {
			first = n
		}
	}
	delete(c.Shut, first)
}

func (c *cursor) noteComment(comment int64, made time.Time) { c.Taken[comment] = made }

// prune drops comments that no list will contain again, and what was taken more than a
// day before the newest change.
func (c *cursor) prune() {
	maps.DeleteFunc(c.Spent, func(_ string, all []time.Time) bool {
		return !slices.ContainsFunc(all, func(at time.Time) bool { return c.Since.Sub(at) < day })
	})
	maps.DeleteFunc(c.Taken, func(_ int64, made time.Time) bool { return made.Before(c.from()) })
}

func (c cursor) equal(o cursor) bool {
	return c.Begun == o.Begun && c.Old == o.Old && c.Since.Equal(o.Since) && maps.EqualFunc(c.Taken, o.Taken, time.Time.Equal) &&
		maps.EqualFunc(c.Shut, o.Shut, time.Time.Equal) &&
		maps.EqualFunc(c.Spent, o.Spent, sameTimes)
}

// readings is when each issue was first read as it is now.
type readings map[int]reading

type reading struct{ updated, at time.Time }

// settle returns the issues that were read as they are now more than the overlap ago: what
// the forge shows late is there. It forgets issues that are not listed.
func (r readings) settle(issues []forge.Issue, now time.Time) map[int]bool {
	listed, settled := map[int]bool{}, map[int]bool{}
	for _, issue := range issues {
		listed[issue.Number] = true
		first, ok := r[issue.Number]
		if !ok || !first.updated.Equal(issue.UpdatedAt) {
			r[issue.Number] = reading{issue.UpdatedAt, now}
		} else if now.Sub(first.at) > overlap {
			settled[issue.Number] = true
		}
	}
	maps.DeleteFunc(r, func(issue int, _ reading) bool { return !listed[issue] })
	return settled
}

// cursors keeps the cursor of each repository in a KV bucket.
type cursors struct{ kv jetstream.KeyValue }

func (c cursors) load(ctx context.Context, repo string) (cursor, error) {
	at, _, err := record[cursor](ctx, c.kv, key(repo), "cursor of "+repo)
	return at, err
}

func (c cursors) save(ctx context.Context, repo string, at cursor) error {
	return putRecord(ctx, c.kv, key(repo), "cursor of "+repo, at)
}

func sameTimes(a, b []time.Time) bool { return slices.EqualFunc(a, b, time.Time.Equal) }
