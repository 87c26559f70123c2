package jetstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// ProvisionConfig configures what Provision creates.
type ProvisionConfig struct {
	Replicas int // of each stream and bucket, 1 to 5; 0 is 1
}

// Resources are the streams and buckets other than the log.
type Resources struct {
	Dead        jetstream.Stream
	Timers      jetstream.Stream
	Definitions jetstream.KeyValue
	Objects     jetstream.ObjectStore
}

// provisionTimeout bounds one try to create them.
const provisionTimeout = 10 * time.Second

// Provision creates the resources that are missing; it is safe to repeat. Open
// creates the log itself, EnsureConsumer the consumer of a role. While the server
// is away it retries until ctx ends.
func Provision(ctx context.Context, js jetstream.JetStream, c ProvisionConfig) (Resources, error) {
	return retry(ctx, provisionTimeout, func(ctx context.Context) (Resources, error) { return provision(ctx, js, c) })
}

func provision(ctx context.Context, js jetstream.JetStream, c ProvisionConfig) (Resources, error) {
	var r Resources
	var err error
	if r.Dead, err = EnsureDead(ctx, js, c.Replicas); err != nil {
		return Resources{}, err
	}
	if r.Timers, err = EnsureTimers(ctx, js, c.Replicas); err != nil {
		return Resources{}, err
	}
	if r.Definitions, err = EnsureDefinitions(ctx, js, c.Replicas); err != nil {
		return Resources{}, err
	}
	if r.Objects, err = EnsureObjects(ctx, js, c.Replicas); err != nil {
		return Resources{}, err
	}
	if _, err = EnsureCursors(ctx, js, c.Replicas); err != nil {
		return Resources{}, err
	}
	if _, err = EnsureDeliveries(ctx, js, c.Replicas); err != nil {
		return Resources{}, err
	}
	return r, nil
}

// sealed is the server's error code for a change of a stream that nobody may write to.
const sealed = 10052

// ensure creates a stream, or updates its configuration. One that was sealed stays as it
// is: MendSettings reports it, and it keeps nothing else from its work.
func ensure(ctx context.Context, js jetstream.JetStream, c jetstream.StreamConfig) (jetstream.Stream, error) {
	stream, err := js.CreateOrUpdateStream(ctx, c)
	if no := new(jetstream.APIError); errors.As(err, &no) && no.ErrorCode == sealed {
		stream, err = js.Stream(ctx, c.Name)
	}
	if err != nil {
		return nil, fmt.Errorf("ensure stream %s: %w", c.Name, err)
	}
	return stream, nil
}
