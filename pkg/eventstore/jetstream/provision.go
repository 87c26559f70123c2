package jetstream

import (
	"context"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// ProvisionConfig says how it is kept.
type ProvisionConfig struct {
	Replicas int // of each stream and bucket, 1 to 5; 0 is 1
}

// Resources is what Signalbox keeps in JetStream beside the log.
type Resources struct {
	Dead        jetstream.Stream
	Timers      jetstream.Stream
	Definitions jetstream.KeyValue
	Objects     jetstream.ObjectStore
}

// provisionTimeout is how long one try to make them waits for its answers.
const provisionTimeout = 10 * time.Second

// Provision makes what is missing of them and is safe to repeat. The log itself
// is made by Open, the consumer of a role by EnsureConsumer. A server that is
// away is waited for until ctx ends.
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
	return r, nil
}
