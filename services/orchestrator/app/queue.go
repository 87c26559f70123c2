package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	store "github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// consumers creates or updates the work queues of the definitions, including those that only running
// instances use. It does so for the queues of the commits that status comments and notifications follow.
func (s Settings) consumers(ctx context.Context, js jetstream.JetStream, definitions []*workflow.Definition) error {
	all, err := queues(definitions)
	if err != nil {
		return err
	}
	for queue, filters := range all {
		slices.Sort(filters) // two versions of a definition share most of their states
		filters = slices.Compact(filters)
		config := store.ConsumerConfig{AckWait: s.AckWait, MaxDeliver: s.MaxDeliver}
		if queue == subject.Endings { // a comment that the forge refuses stays owed, and holds no other back
			config = store.ConsumerConfig{AckWait: s.AckWait, MaxAckPending: -1}
		}
		if err := store.EnsureConsumer(ctx, js, queue, filters, config); err != nil {
			return err
		}
	}
	statuses := store.ConsumerConfig{AckWait: s.AckWait, FromNow: true}
	if err := store.EnsureConsumer(ctx, js, subject.Statuses, []string{subject.Events}, statuses); err != nil {
		return err
	}
	notifications := store.ConsumerConfig{AckWait: notifyWait, MaxAckPending: -1, FromNow: true}
	return store.EnsureConsumer(ctx, js, subject.Notifications, []string{subject.Events}, notifications)
}

// notifyWait is how long one target of a notification may take, and after which a crashed notifier's commits are delivered again.
const notifyWait = time.Minute

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

// queueWatch measures the work queues of roles, and makes those again that others deleted.
type queueWatch struct {
	js          jetstream.JetStream
	definitions registry
	metrics     *metrics
	log         *slog.Logger
	idle        *unserved
	ensure      func(context.Context) error // makes the queues that are missing
}

const (
	// deletedQueues are the server's messages about consumers of the log that were deleted.
	deletedQueues = "$JS.EVENT.ADVISORY.CONSUMER.DELETED." + subject.EventStream + ".*"
	// queuesEvery is how often the queues are looked at, if the server does not say that one was deleted.
	queuesEvery = 5 * time.Second
)

// run looks at the queues until ctx ends.
func (q queueWatch) run(ctx context.Context) error {
	roles := append(q.definitions.roles(), subject.Endings)
	deleted := make(chan struct{}, 1)
	sub, err := q.js.Conn().Subscribe(deletedQueues, func(m *nats.Msg) {
		if !slices.Contains(roles, m.Subject[strings.LastIndexByte(m.Subject, '.')+1:]) {
			return // a reader's
		}
		select {
		case deleted <- struct{}{}:
		default: // one look is enough
		}
	})
	if err != nil {
		return fmt.Errorf("subscribe to %s: %w", deletedQueues, err)
	}
	defer func() { _ = sub.Unsubscribe() }() // fails only if the connection is closed
	tick := time.NewTicker(queuesEvery)
	defer tick.Stop()
	for {
		q.look(ctx, roles)
		select {
		case <-deleted:
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// look sets the gauges. It logs, counts and makes again what is missing.
func (q queueWatch) look(ctx context.Context, roles []string) {
	var missing []string
	for _, role := range roles {
		one, cancel := context.WithTimeout(ctx, queuesEvery)
		c, err := q.js.Consumer(one, subject.EventStream, role)
		cancel()
		switch {
		case err == nil:
			info := c.CachedInfo()
			q.metrics.pending.WithLabelValues(role).Set(float64(info.NumPending))
			q.metrics.redeliver.WithLabelValues(role).Set(float64(info.NumRedelivered))
			q.metrics.waiting.WithLabelValues(role).Set(float64(info.NumWaiting))
			if role == subject.Endings { // its comments are no work of a role
				continue
			}
			q.idle.note(role, info.NumPending, info.NumWaiting, info.NumWaiting+info.NumAckPending > 0)
		case errors.Is(err, jetstream.ErrConsumerNotFound):
			missing = append(missing, role)
		}
	}
	if missing == nil || ctx.Err() != nil {
		return
	}
	q.metrics.settings.WithLabelValues(subject.EventStream).Add(float64(len(missing)))
	one, cancel := context.WithTimeout(ctx, queuesEvery)
	defer cancel()
	err := q.ensure(one)
	switch {
	case ctx.Err() != nil: // the next start makes them
	case err != nil:
		q.log.Error("the work queues of roles were deleted, and are not made again yet", "roles", missing, "error", err)
	default:
		q.log.Error("the work queues of roles were deleted, and are made again; find who may do that", "roles", missing)
	}
}

// unserved are the roles that have work in their queues, and no agent that takes it. It also has the agents that wait at
// queues.
type unserved struct {
	mu    sync.Mutex
	roles map[string]uint64 // by role, how much work waits
	free  map[string]int    // by role, how many agents wait at its queue
}

// waiting returns how many agents of each role wait at its queue.
func (u *unserved) waiting() map[string]int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return maps.Clone(u.free)
}

// note takes in how a queue is. served means that an agent waits at it, or has work of it.
func (u *unserved) note(role string, pending uint64, waiting int, served bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.free == nil {
		u.free = map[string]int{}
	}
	u.free[role] = waiting
	delete(u.roles, role)
	if pending > 0 && !served {
		if u.roles == nil {
			u.roles = map[string]uint64{}
		}
		u.roles[role] = pending
	}
}

// check returns which roles have no agent that takes their work.
func (u *unserved) check(context.Context) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.roles) == 0 {
		return nil
	}
	var all []string
	for role, pending := range u.roles {
		all = append(all, fmt.Sprintf("%s (%d)", role, pending))
	}
	slices.Sort(all)
	return fmt.Errorf("work waits that no agent takes: %s; see signalbox doctor", strings.Join(all, ", "))
}
