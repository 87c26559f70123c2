package jetstream

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// DefinitionBucket is the key-value bucket of lifecycle definitions, by content
// hash: an instance keeps the definition it was opened under.
const DefinitionBucket = "definitions"

// EnsureDefinitions makes the bucket of definitions.
func EnsureDefinitions(ctx context.Context, js jetstream.JetStream, replicas int) (jetstream.KeyValue, error) {
	kv, err := js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{
		Bucket:      DefinitionBucket,
		Description: "Lifecycle definitions by content hash.",
		Storage:     jetstream.FileStorage,
		Compression: true,
		Replicas:    max(replicas, 1),
	})
	if err != nil {
		return nil, fmt.Errorf("ensure bucket %s: %w", DefinitionBucket, err)
	}
	return kv, nil
}
