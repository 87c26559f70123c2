package app

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/nats-io/nats.go/jetstream"

	store "github.com/signalbox/signalbox/pkg/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/subject"
	"github.com/signalbox/signalbox/pkg/workflow"
)

// consumers makes the work queues of the definitions, those that running
// instances were opened with included.
func (s Settings) consumers(ctx context.Context, js jetstream.JetStream, definitions []*workflow.Definition) error {
	all, err := queues(definitions)
	if err != nil {
		return err
	}
	for queue, filters := range all {
		slices.Sort(filters) // two definitions of a name share most of their states
		filters = slices.Compact(filters)
		if err := store.EnsureConsumer(ctx, js, queue, filters, store.ConsumerConfig{AckWait: s.AckWait, MaxDeliver: s.MaxDeliver}); err != nil {
			return err
		}
	}
	return nil
}

// queues is one queue a role: the work of the states that it owns, and the
// questions it may be asked. And one of all that people are told of, for the PM:
// what ended, what waits in a state that says so, what was escalated.
func queues(definitions []*workflow.Definition) (map[string][]string, error) {
	all := map[string][]string{subject.Endings: {subject.Told}}
	add := func(queue, filter string, err error) error {
		all[queue] = append(all[queue], filter)
		return err
	}
	var errs error
	for _, d := range definitions {
		for _, role := range d.Roles() {
			filter, err := subject.WorkFor(role)
			errs = errors.Join(errs, add(role, filter, err))
		}
		for _, state := range d.States {
			if state.Owner != "" {
				filter, err := subject.Work(d.Name, state.Name)
				errs = errors.Join(errs, add(state.Owner, filter, err))
			}
			if state.Kind == workflow.Final || state.Tell {
				filter, err := subject.Ended(d.Name, state.Name)
				errs = errors.Join(errs, add(subject.Endings, filter, err))
			}
		}
	}
	return all, errs
}

// deadLetters is a consumer of the dead letters that come from now on.
func deadLetters(ctx context.Context, js jetstream.JetStream) (jetstream.Consumer, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	dead, err := js.Stream(ctx, store.DeadStream)
	if err != nil {
		return nil, err
	}
	// Not DeliverNew: after an outage the client library would begin at the first.
	return dead.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: dead.CachedInfo().State.LastSeq + 1,
	})
}

// mourn logs and counts dead letters that come, until ctx ends. A server that
// is away when it begins is no reason to end.
func mourn(ctx context.Context, log *slog.Logger, js jetstream.JetStream, m *metrics) error {
	consumer, err := backoff.Retry(ctx, func() (jetstream.Consumer, error) { return deadLetters(ctx, js) },
		backoff.WithMaxElapsedTime(0), backoff.WithNotify(func(err error, _ time.Duration) {
			log.Warn("cannot look for dead letters; trying again", "error", err)
		}))
	if err != nil {
		return nil // stopped before it could look
	}
	messages, err := consumer.Messages()
	if err != nil {
		return err
	}
	defer messages.Stop()
	defer context.AfterFunc(ctx, messages.Stop)() // while the server is away, Next heeds nothing else
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
