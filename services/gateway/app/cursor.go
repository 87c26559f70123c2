package app

import (
	"context"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// cursor is how far a repository has been read. It is stored only after
// everything up to it was taken, so a crash repeats and never skips.
type cursor struct {
	Since time.Time `json:"since"` // newest change seen
	Seen  []int64   `json:"seen"`  // comments at exactly that moment that were taken
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
