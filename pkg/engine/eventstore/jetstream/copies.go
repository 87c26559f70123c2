package jetstream

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// Copies returns how many replicas a stream is to have: as many as wanted, and no
// fewer than it has. A process that is not configured for the cluster must not
// remove replicas.
func Copies(ctx context.Context, js jetstream.JetStream, stream string, want int) (int, error) {
	want = max(want, 1)
	there, err := js.Stream(ctx, stream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return want, nil
	}
	if err != nil {
		return 0, fmt.Errorf("look at stream %s: %w", stream, err)
	}
	return max(want, there.CachedInfo().Config.Replicas), nil
}

// compressed reports whether a stream of so many copies may be compressed. One of a cluster
// may not. Where each write is flushed, a nats-server that starts cuts it back to the last
// snapshot and replays the rest. Up to 2.15.2 at least it may then compress the block that
// it goes on writing to, which cannot be read again.
func compressed(replicas int) bool { return replicas <= 1 }

func compression(replicas int) jetstream.StoreCompression {
	if compressed(replicas) {
		return jetstream.S2Compression
	}
	return jetstream.NoCompression
}
