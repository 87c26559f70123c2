package app

import (
	"context"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// cursor is how far a repository has been read. It is stored only after
// everything up to it was taken, so a crash repeats and never skips.
//
// Only the issues, as they were listed, move it: a comment that came while they
// were read one by one says nothing of what came on the others before it.
type cursor struct {
	Since time.Time           `json:"since"`           // the newest change when the issues were listed
	Taken map[int64]time.Time `json:"taken,omitempty"` // the comments made since that were taken, and when they were made
}

func (c cursor) clone() cursor {
	taken := maps.Clone(c.Taken)
	if taken == nil {
		taken = map[int64]time.Time{}
	}
	return cursor{c.Since, taken}
}

func (c *cursor) reached(at time.Time) {
	if at.After(c.Since) {
		c.Since = at
	}
}

func (c *cursor) took(comment int64, made time.Time) { c.Taken[comment] = made }

// forget drops what will not be listed again.
func (c *cursor) forget() {
	maps.DeleteFunc(c.Taken, func(_ int64, made time.Time) bool { return made.Before(c.Since) })
}

func (c cursor) equal(o cursor) bool {
	return c.Since.Equal(o.Since) && maps.EqualFunc(c.Taken, o.Taken, time.Time.Equal)
}

// cursors keeps one cursor a repository in a KV bucket.
type cursors struct{ kv jetstream.KeyValue }

func (c cursors) load(ctx context.Context, repo string) (cursor, error) {
	var at cursor
	entry, err := c.kv.Get(ctx, key(repo))
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return at, nil
	}
	if err == nil {
		err = json.Unmarshal(entry.Value(), &at)
	}
	if err != nil {
		return at, fmt.Errorf("cursor of %s: %w", repo, err)
	}
	return at, nil
}

func (c cursors) save(ctx context.Context, repo string, at cursor) error {
	data, err := json.Marshal(at)
	if err == nil {
		_, err = c.kv.Put(ctx, key(repo), data)
	}
	if err != nil {
		return fmt.Errorf("cursor of %s: %w", repo, err)
	}
	return nil
}

// key spells a repository's name with the letters a KV key may have.
func key(repo string) string {
	return base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString([]byte(repo))
}
