package jetstream

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/subject"
)

const (
	// deliveriesFor is how long a delivery is kept, and maxDeliveries how many are. There is
	// no limit of bytes: the server would reserve them, and refuse the stream on a small disk.
	deliveriesFor = 7 * 24 * time.Hour
	maxDeliveries = 500_000
	// deliveredOnce is how long the id of a delivery is known. GitHub delivers again for three days.
	deliveredOnce = 4 * 24 * time.Hour
	// deliveryWait is how long the gateway may take to handle what it has read.
	deliveryWait = time.Minute
)

// EnsureDeliveries creates the stream of what webhooks deliver, and the gateway's consumer
// of it, or updates their configuration.
func EnsureDeliveries(ctx context.Context, js jetstream.JetStream, replicas int) (jetstream.Stream, error) {
	replicas, err := Copies(ctx, js, subject.DeliveryStream, replicas)
	if err != nil {
		return nil, err
	}
	stream, err := ensure(ctx, js, jetstream.StreamConfig{
		Name:        subject.DeliveryStream,
		Description: "What the forge's webhooks delivered.",
		Subjects:    []string{subject.Deliveries},
		Retention:   jetstream.LimitsPolicy,
		Storage:     jetstream.FileStorage,
		Compression: jetstream.S2Compression,
		MaxAge:      deliveriesFor,
		MaxMsgs:     maxDeliveries,
		Duplicates:  deliveredOnce,
		Replicas:    replicas,
	})
	if err != nil {
		return nil, err
	}
	_, err = stream.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
		Durable:       subject.DeliveryReader,
		Description:   "Deliveries for the gateway.",
		DeliverPolicy: jetstream.DeliverAllPolicy,
		AckPolicy:     jetstream.AckExplicitPolicy,
		AckWait:       deliveryWait,
		MaxDeliver:    -1,
		MaxAckPending: 10_000,
	})
	if err != nil {
		return nil, fmt.Errorf("ensure consumer %s of %s: %w", subject.DeliveryReader, subject.DeliveryStream, err)
	}
	return stream, nil
}
