package jetstream

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/subject"
)

// ConsumerConfig is how work is delivered to a role. Zero fields take the
// defaults named here.
type ConsumerConfig struct {
	// AckWait is the time after which a delivery without an acknowledgement or a
	// sign of progress is repeated: 30 s. An agent at work reports progress more
	// often.
	AckWait time.Duration
	// BackOff, if any, replaces AckWait: the wait after the first delivery, the
	// second and so on; the last one repeats.
	BackOff []time.Duration
	// MaxDeliver is how often a commit is delivered before it becomes a dead
	// letter, and must exceed len(BackOff): for ever.
	MaxDeliver int
	// MaxAckPending is how many deliveries may be under way at a time, over all
	// agents of the role: 10,000; -1: any number.
	MaxAckPending int
	// FromNow begins a new consumer after the commits that there are.
	FromNow bool
}

// consumerTimeout is how long one request about a consumer waits for its answer.
const consumerTimeout = 5 * time.Second

// EnsureConsumer creates or updates the durable consumer of a role, which has the role's
// name. filters are subject.Work of the states the role owns. A new consumer starts with
// the oldest commit in the log, unless FromNow. A filter that is added later sees the
// commits after those that were delivered. Fetch work one message at a time: a buffered one
// is kept from other agents while its AckWait runs.
func EnsureConsumer(ctx context.Context, js jetstream.JetStream, role string, filters []string, c ConsumerConfig) error {
	if err := subject.CheckName(role); err != nil {
		return err
	}
	if len(filters) == 0 {
		return fmt.Errorf("role %s owns no state: want a filter, or it would be given every commit", role)
	}
	if c.AckWait == 0 {
		c.AckWait = 30 * time.Second
	}
	if c.MaxDeliver == 0 {
		c.MaxDeliver = -1
	}
	if c.MaxAckPending == 0 {
		c.MaxAckPending = 10_000
	}
	begin := jetstream.DeliverAllPolicy
	if c.FromNow {
		begin = jetstream.DeliverNewPolicy
		// One that is there, such as a restored one, keeps the policy: it cannot be updated.
		if was, err := js.Consumer(ctx, subject.EventStream, role); err == nil {
			begin = was.CachedInfo().Config.DeliverPolicy
		}
	}
	config := jetstream.ConsumerConfig{
		Durable:       role,
		Description:   "Work for " + role + ".",
		DeliverPolicy: begin,
		AckPolicy:     jetstream.AckExplicitPolicy,
		AckWait:       c.AckWait,
		BackOff:       c.BackOff,
		MaxDeliver:    c.MaxDeliver,
		MaxAckPending: c.MaxAckPending,
		// Never FilterSubject, not even for one: a consumer that goes from the
		// one field to the other is mistaken for one of an old server.
		FilterSubjects: filters,
	}
	// A server that just came back may lose a request: make it again.
	consumer, err := retry(ctx, consumerTimeout, func(ctx context.Context) (jetstream.Consumer, error) {
		return js.CreateOrUpdateConsumer(ctx, subject.EventStream, config)
	})
	if err != nil {
		return fmt.Errorf("ensure consumer %s: %w", role, err)
	}
	// The answer to the first update after a server's restart may be of before it.
	info, err := retry(ctx, consumerTimeout, consumer.Info)
	if err != nil {
		return fmt.Errorf("look at consumer %s: %w", role, err)
	}
	if got := info.Config.FilterSubjects; !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(filters))) {
		return fmt.Errorf("consumer %s has filters %v, want %v: another process configures it too", role, got, filters)
	}
	return nil
}
