package app

import (
	"context"
	"encoding/json"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	store "github.com/signalbox/signalbox/pkg/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/subject"
	"github.com/signalbox/signalbox/pkg/workflow"
)

// consumers makes one work queue a role: the work of the states the definitions
// say it owns. And one of everything that ended, for the PM to tell people.
func (s Settings) consumers(ctx context.Context, js jetstream.JetStream, r registry) error {
	queues := map[string][]string{}
	for _, d := range r.catalog.All() {
		for _, state := range d.States {
			queue, filter := state.Owner, subject.Work
			if state.Kind == workflow.Final {
				queue, filter = subject.Endings, subject.Ended
			}
			if queue == "" {
				continue
			}
			f, err := filter(d.Name, state.Name)
			if err != nil {
				return err
			}
			queues[queue] = append(queues[queue], f)
		}
	}
	for queue, filters := range queues {
		if err := store.EnsureConsumer(ctx, js, queue, filters, store.ConsumerConfig{AckWait: s.AckWait, MaxDeliver: s.MaxDeliver}); err != nil {
			return err
		}
	}
	return nil
}

// mourn logs and counts dead letters until ctx ends.
func mourn(ctx context.Context, h *service.Host, js jetstream.JetStream, m *metrics) error {
	consumer, err := js.OrderedConsumer(ctx, store.DeadStream, jetstream.OrderedConsumerConfig{DeliverPolicy: jetstream.DeliverNewPolicy})
	if err != nil {
		return err
	}
	messages, err := consumer.Messages()
	if err != nil {
		return err
	}
	defer messages.Stop()
	for {
		msg, err := messages.Next(jetstream.NextContext(ctx))
		if err != nil {
			return nil // stopped
		}
		var advisory struct {
			Seq        uint64 `json:"stream_seq"`
			Deliveries int    `json:"deliveries"`
		}
		role, refused, _ := subject.ParseDead(msg.Subject())
		_ = json.Unmarshal(msg.Data(), &advisory)
		m.dead.WithLabelValues(role).Inc()
		h.Log.Error("work given up on; `signalbox retry` hands it out again", "role", role, "work", advisory.Seq, "deliveries", advisory.Deliveries, "refused", refused)
	}
}

// measure keeps the gauges of the work queues until ctx ends.
func measure(ctx context.Context, js jetstream.JetStream, r registry, m *metrics) error {
	const every = 5 * time.Second
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		for _, role := range r.roles() {
			one, cancel := context.WithTimeout(ctx, every)
			if c, err := js.Consumer(one, subject.EventStream, role); err == nil {
				info := c.CachedInfo()
				m.pending.WithLabelValues(role).Set(float64(info.NumPending))
				m.redeliver.WithLabelValues(role).Set(float64(info.NumRedelivered))
			}
			cancel()
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}
