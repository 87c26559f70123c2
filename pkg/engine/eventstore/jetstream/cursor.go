package jetstream

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// CursorBucket is the key-value bucket of how far the gateway has read each repository.
const CursorBucket = "signalbox-cursors"

// EnsureCursors creates the bucket of cursors, or updates its configuration.
func EnsureCursors(ctx context.Context, js jetstream.JetStream, replicas int) (jetstream.KeyValue, error) {
	replicas, err := Copies(ctx, js, "KV_"+CursorBucket, replicas)
	if err != nil {
		return nil, err
	}
	kv, err := js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{
		Bucket: CursorBucket, Description: "how far the gateway has read each repository", Replicas: replicas,
	})
	if err != nil {
		return nil, fmt.Errorf("ensure bucket %s: %w", CursorBucket, err)
	}
	return kv, nil
}
