package app

import (
	"context"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// record reads a record of the bucket of cursors and its revision; it is zero if there is none yet.
func record[T any](ctx context.Context, kv jetstream.KeyValue, key, about string) (r T, revision uint64, err error) {
	entry, err := kv.Get(ctx, key)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return r, 0, nil
	}
	if err == nil {
		revision, err = entry.Revision(), json.Unmarshal(entry.Value(), &r)
	}
	if err != nil {
		return r, 0, fmt.Errorf("%s: %w", about, err)
	}
	return r, revision, nil
}

// putRecord keeps a record.
func putRecord(ctx context.Context, kv jetstream.KeyValue, key, about string, r any) error {
	data, err := json.Marshal(r)
	if err == nil {
		_, err = kv.Put(ctx, key, data)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", about, err)
	}
	return nil
}

// key returns a repository's name in the characters of a KV key.
func key(repo string) string {
	return base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString([]byte(repo))
}
