package jetstream

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
)

const (
	// SnapshotBucket is the key-value bucket of the description of the newest
	// snapshot, under its one key.
	SnapshotBucket = "snapshot"
	// SnapshotParts is the object store of what snapshots are made of. Both can be
	// removed at any time: the log has all of it.
	SnapshotParts = "snapshots"

	snapshotKey = "newest"
	// partChunk is the bytes of a part in one message: each costs a request to read.
	partChunk = 512 << 10
	// snapshotTimeout bounds one try to read or write a part.
	snapshotTimeout = 30 * time.Second
)

// SnapshotIndex describes the newest snapshot. It is a snapshot.Index.
type SnapshotIndex struct{ kv jetstream.KeyValue }

// SnapshotStore holds parts of snapshots. It is a snapshot.Parts.
type SnapshotStore struct{ objects Objects }

// EnsureSnapshots creates the buckets of snapshots. While the server is away it
// retries until ctx ends.
func EnsureSnapshots(ctx context.Context, js jetstream.JetStream, replicas int) (SnapshotIndex, SnapshotStore, error) {
	var index SnapshotIndex
	parts, err := retry(ctx, provisionTimeout, func(ctx context.Context) (parts SnapshotStore, err error) {
		replicas, err := Copies(ctx, js, "KV_"+SnapshotBucket, replicas)
		if err != nil {
			return parts, err
		}
		index.kv, err = js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{
			Bucket: SnapshotBucket, Description: "Where the newest snapshot is.", Storage: jetstream.FileStorage, Replicas: replicas,
		})
		if err != nil {
			return parts, fmt.Errorf("ensure bucket %s: %w", SnapshotBucket, err)
		}
		store, err := js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{
			Bucket: SnapshotParts, Description: "What snapshots are made of.", Storage: jetstream.FileStorage,
			Compression: compressed(replicas), Replicas: replicas,
		})
		if err == nil {
			parts.objects, err = readable(ctx, js, SnapshotParts, store)
		}
		if err != nil {
			return parts, fmt.Errorf("ensure object store %s: %w", SnapshotParts, err)
		}
		return parts, nil
	})
	return index, parts, err
}

// Get returns the description and its revision.
func (i SnapshotIndex) Get(ctx context.Context) ([]byte, uint64, error) {
	entry, err := retry(ctx, snapshotTimeout, func(ctx context.Context) (jetstream.KeyValueEntry, error) { return i.kv.Get(ctx, snapshotKey) })
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	return entry.Value(), entry.Revision(), nil
}

// Set replaces the description of that revision, or fails with eventstore.ErrConflict.
func (i SnapshotIndex) Set(ctx context.Context, data []byte, revision uint64) error {
	ctx, cancel := context.WithTimeout(ctx, snapshotTimeout)
	defer cancel()
	var err error
	if revision == 0 {
		_, err = i.kv.Create(ctx, snapshotKey, data)
	} else {
		_, err = i.kv.Update(ctx, snapshotKey, data, revision)
	}
	if conflicts(err) || errors.Is(err, jetstream.ErrKeyExists) {
		return fmt.Errorf("%w: %w", eventstore.ErrConflict, err)
	}
	return err
}

// Get returns a part.
func (s SnapshotStore) Get(ctx context.Context, name string) ([]byte, error) {
	return retry(ctx, snapshotTimeout, func(ctx context.Context) ([]byte, error) { return s.objects.GetBytes(ctx, name) })
}

// Put stores a part.
func (s SnapshotStore) Put(ctx context.Context, name string, data []byte) error {
	_, err := retry(ctx, snapshotTimeout, func(ctx context.Context) (*jetstream.ObjectInfo, error) {
		meta := jetstream.ObjectMeta{Name: name, Opts: &jetstream.ObjectMetaOptions{ChunkSize: partChunk}}
		return s.objects.Put(ctx, meta, bytes.NewReader(data))
	})
	return err
}

// Sweep removes the parts for which keep returns false.
func (s SnapshotStore) Sweep(ctx context.Context, keep func(name string) bool) error {
	ctx, cancel := context.WithTimeout(ctx, snapshotTimeout)
	defer cancel()
	all, err := s.objects.List(ctx)
	if errors.Is(err, jetstream.ErrNoObjectsFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("list the parts of snapshots: %w", err)
	}
	for _, part := range all {
		if keep(part.Name) {
			continue
		}
		err := s.objects.Delete(ctx, part.Name)
		if err == nil { // and the record that it existed
			meta := "$O." + SnapshotParts + ".M." + base64.URLEncoding.EncodeToString([]byte(part.Name))
			err = s.objects.stream.Purge(ctx, jetstream.WithPurgeSubject(meta))
		}
		if err != nil && !errors.Is(err, jetstream.ErrObjectNotFound) {
			return fmt.Errorf("remove part %s of a snapshot: %w", part.Name, err)
		}
	}
	return nil
}

// Identity returns the random name that the log got when it was created.
func (s *Store) Identity() string { return s.tracker.current().Identity }
