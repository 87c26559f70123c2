package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
)

// Cursors is the bucket of how far the gateway has read each repository.
const Cursors = jetstream.CursorBucket

// kept are the key-value buckets that go with the log. Derived ones, such as timers,
// are made from it again.
var kept = [...]string{jetstream.DefinitionBucket, Cursors}

type entry struct {
	Key   string `json:"key"`
	Value []byte `json:"value"`
}

func buckets(ctx context.Context, js natsjs.JetStream, dir string) ([]Bucket, error) {
	var all []Bucket
	for _, name := range kept {
		kv, err := js.KeyValue(ctx, name)
		if errors.Is(err, natsjs.ErrBucketNotFound) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("bucket %s: %w", name, err)
		}
		b := Bucket{Name: name}
		b.File, err = write(dir, filepath.Join("bucket", name+".jsonl.gz"), func(f *os.File) error {
			b.Keys, err = dump(ctx, js, kv, f)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("bucket %s: %w", name, err)
		}
		all = append(all, b)
	}
	return all, nil
}

func dump(ctx context.Context, js natsjs.JetStream, kv natsjs.KeyValue, w io.Writer) (int, error) {
	keys, err := jetstream.Keys(ctx, js, kv.Bucket())
	if err != nil {
		return 0, err
	}
	l, err := newLines(w)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, key := range keys {
		e, err := kv.Get(ctx, key)
		if errors.Is(err, natsjs.ErrKeyNotFound) { // it was deleted
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("key %s: %w", key, err)
		}
		if err := l.put(entry{key, e.Value()}); err != nil {
			return 0, err
		}
		n++
	}
	return n, l.close()
}

// objects copies those that are not in the backup yet.
func objects(ctx context.Context, js natsjs.JetStream, dir string, have []Object) (all []Object, added int, err error) {
	store, err := jetstream.OpenObjects(ctx, js, jetstream.ObjectBucket)
	if errors.Is(err, natsjs.ErrBucketNotFound) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("object store %s: %w", jetstream.ObjectBucket, err)
	}
	list, err := store.All(ctx)
	if err != nil {
		return nil, 0, fmt.Errorf("list the objects: %w", err)
	}
	known := map[string]bool{}
	for _, o := range have {
		known[o.Path] = true
	}
	for _, info := range list {
		sum, err := jetstream.Digest(info)
		if err != nil {
			return nil, 0, err
		}
		o := Object{File{filepath.Join("object", sum), int64(info.Size), sum}, info.Name}
		if !known[o.Path] {
			got, err := write(dir, o.Path, func(f *os.File) error { return fetch(ctx, store, info.Name, f) })
			if err != nil {
				return nil, 0, fmt.Errorf("object %s: %w", info.Name, err)
			}
			if got != o.File {
				return nil, 0, fmt.Errorf("object %s: its content has the SHA-256 %s, want %s", info.Name, got.SHA256, sum)
			}
			known[o.Path] = true
			added++
		}
		all = append(all, o)
	}
	slices.SortFunc(all, func(a, b Object) int { return strings.Compare(a.Name, b.Name) })
	return all, added, nil
}

func fetch(ctx context.Context, store jetstream.Objects, name string, w io.Writer) error {
	r, err := store.Get(ctx, name)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, r)
	return errors.Join(err, r.Close())
}
