package app

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/nats-io/nats.go/jetstream"

	store "github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/subject"
)

// watchDeadLetters logs and counts each new dead letter until ctx ends. It retries while the server is
// away at its start.
func watchDeadLetters(ctx context.Context, log *slog.Logger, js jetstream.JetStream, m *metrics) error {
	consumer, err := backoff.Retry(ctx, func() (jetstream.Consumer, error) { return newDeadLetters(ctx, js) },
		backoff.WithMaxElapsedTime(0), backoff.WithNotify(func(err error, _ time.Duration) {
			log.Warn("cannot look for dead letters; trying again", "error", err)
		}))
	if err != nil {
		return nil // ctx has ended
	}
	messages, err := consumer.Messages()
	if err != nil {
		return err
	}
	defer messages.Stop()
	defer context.AfterFunc(ctx, messages.Stop)() // Next ignores its context while the server is away
	for {
		msg, err := messages.Next(jetstream.NextContext(ctx))
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		var advisory struct {
			Seq        uint64 `json:"stream_seq"`
			Deliveries int    `json:"deliveries"`
			Reason     string `json:"reason"`
		}
		role, refused, err := subject.ParseDead(msg.Subject())
		if err = errors.Join(err, json.Unmarshal(msg.Data(), &advisory)); err != nil {
			log.Warn("a dead letter cannot be read", "subject", msg.Subject(), "error", err)
			continue
		}
		m.dead.WithLabelValues(role).Inc()
		log.Error("work given up on; `signalbox retry` hands it out again", "role", role, "work", advisory.Seq,
			"deliveries", advisory.Deliveries, "refused", refused, "reason", advisory.Reason)
	}
}

// newDeadLetters returns a consumer of the dead letters from now on.
func newDeadLetters(ctx context.Context, js jetstream.JetStream) (jetstream.Consumer, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	dead, err := js.Stream(ctx, store.DeadStream)
	if err != nil {
		return nil, err
	}
	// Not DeliverNew: after an outage the client library would begin at the first message.
	return dead.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: dead.CachedInfo().State.LastSeq + 1,
	})
}
