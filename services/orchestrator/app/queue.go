package app

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	store "github.com/signalbox/signalbox/pkg/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/subject"
	"github.com/signalbox/signalbox/pkg/workflow"
)

// consumers creates or updates the work queues of the definitions, including those that only running
// instances use.
func (s Settings) consumers(ctx context.Context, js jetstream.JetStream, definitions []*workflow.Definition) error {
	all, err := queues(definitions)
	if err != nil {
		return err
	}
	for queue, filters := range all {
		slices.Sort(filters) // two versions of a definition share most of their states
		filters = slices.Compact(filters)
		if err := store.EnsureConsumer(ctx, js, queue, filters, store.ConsumerConfig{AckWait: s.AckWait, MaxDeliver: s.MaxDeliver}); err != nil {
			return err
		}
	}
	return nil
}

// queues returns the subject filters of each queue. A role's queue holds the work of the states that it
// owns, and the questions to it. The PM's queue, subject.Endings, holds what people are notified of:
// ended instances, escalations, and entries into states with `tell`.
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

// measureQueues sets the gauges of the work queues every few seconds until ctx ends.
func measureQueues(ctx context.Context, js jetstream.JetStream, r registry, m *metrics) error {
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
