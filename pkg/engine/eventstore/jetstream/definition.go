package jetstream

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// DefinitionBucket is the key-value bucket of lifecycle definitions, by content
// hash: an instance keeps the definition it was opened under.
const DefinitionBucket = "definitions"

// EnsureDefinitions creates the bucket of definitions, or updates its configuration.
func EnsureDefinitions(ctx context.Context, js jetstream.JetStream, replicas int) (jetstream.KeyValue, error) {
	replicas, err := Copies(ctx, js, "KV_"+DefinitionBucket, replicas)
	if err != nil {
		return nil, err
	}
	kv, err := js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{
		Bucket:      DefinitionBucket,
		Description: "Lifecycle definitions by content hash.",
		Storage:     jetstream.FileStorage,
		Compression: compressed(replicas),
		Replicas:    replicas,
	})
	if err != nil {
		return nil, fmt.Errorf("ensure bucket %s: %w", DefinitionBucket, err)
	}
	return kv, nil
}

// PutDefinition stores the canonical source of a definition under its content
// hash. While the server is away it retries until ctx ends.
func PutDefinition(ctx context.Context, kv jetstream.KeyValue, hash string, source []byte) error {
	_, err := retry(ctx, provisionTimeout, func(ctx context.Context) (uint64, error) { return kv.Put(ctx, hash, source) })
	return err
}

// ListDefinitions returns the hashes of all definitions that are stored. While the
// server is away it retries until ctx ends.
func ListDefinitions(ctx context.Context, js jetstream.JetStream) ([]string, error) {
	return retry(ctx, provisionTimeout, func(ctx context.Context) ([]string, error) { return Keys(ctx, js, DefinitionBucket) })
}
