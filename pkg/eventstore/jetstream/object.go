package jetstream

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// ObjectBucket is the object store of what agents hand on: git bundles, outputs.
const ObjectBucket = "objects"

// EnsureObjects makes the object store.
func EnsureObjects(ctx context.Context, js jetstream.JetStream, replicas int) (jetstream.ObjectStore, error) {
	replicas, err := Copies(ctx, js, "OBJ_"+ObjectBucket, replicas)
	if err != nil {
		return nil, err
	}
	store, err := js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{
		Bucket:      ObjectBucket,
		Description: "Git bundles and other artifacts of agents.",
		Storage:     jetstream.FileStorage,
		Replicas:    replicas,
	})
	if err != nil {
		return nil, fmt.Errorf("ensure object store %s: %w", ObjectBucket, err)
	}
	return store, nil
}
