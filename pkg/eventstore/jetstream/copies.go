package jetstream

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// Copies is how many copies of a stream there are to be in a cluster: as many as
// wanted, and no fewer than there are. Who was not told of the cluster must not
// take its copies away.
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
