package timer

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
)

// reconcile compares all stored timers with those that the instances should have.
// It arms missing ones and disarms the others. A timer that fired and is not
// handled yet is not armed a second time.
func (k *Keeper) reconcile(ctx context.Context) error {
	k.Own.Take() // all instances are compared
	k.Followed.Take()
	k.forgetFired()
	var err error
	if k.stream, err = k.Stream(ctx); err != nil {
		return err
	}
	armed, due, err := k.list(ctx)
	if err != nil {
		return fmt.Errorf("list the timers: %w", err)
	}
	// Listed after the timers: so the engine has every commit that a timer was derived
	// from.
	open, err := k.Engine.List(ctx, func(in instance.Instance) bool { return in.Closed == "" })
	if err != nil {
		return err
	}
	k.known = armed
	var arm, drop []Timer
	wanted := map[timerKey]bool{}
	for _, in := range open {
		for _, t := range k.timersOf(ctx, in) {
			key := t.key()
			wanted[key] = true
			if h := armed[key]; !h.same(t) && !due[key].same(t) && h.Commit <= t.Commit {
				arm = append(arm, t)
			}
		}
	}
	for key, h := range armed {
		if !wanted[key] {
			drop = append(drop, h.Timer)
		}
	}
	start := time.Now()
	err = k.armAndDisarm(ctx, arm, drop)
	if len(arm)+len(drop) > 0 {
		k.Log.Info("timers reconciled", "stored", len(armed)-len(drop), "due", len(due), "armed", len(arm), "disarmed", len(drop), "took",
			time.Since(start))
	}
	return err
}

const (
	listBatch    = 1000            // messages fetched at a time
	handlingTime = 2 * time.Minute // a fired timer is expected to be handled within it
)

// list returns the timers in the stream, armed and fired. It removes those that
// were handled.
func (k *Keeper) list(ctx context.Context) (armed map[timerKey]stored, due map[timerKey]Timer, err error) {
	armed, due = map[timerKey]stored{}, map[timerKey]Timer{}
	handling, err := k.stream.Consumer(ctx, subject.TimerConsumer)
	if err != nil {
		return nil, nil, err
	}
	handled := handling.CachedInfo().AckFloor.Stream
	if err := k.stream.Purge(ctx, jetstream.WithPurgeSubject(subject.FiredTimers), jetstream.WithPurgeSequence(handled+1)); err != nil {
		return nil, nil, err
	}
	consumer, err := k.stream.CreateConsumer(ctx, jetstream.ConsumerConfig{
		DeliverPolicy: jetstream.DeliverAllPolicy, AckPolicy: jetstream.AckNonePolicy,
		MemoryStorage: true, Replicas: 1, InactiveThreshold: 6 * requestTimeout,
	})
	if err != nil {
		return nil, nil, err
	}
	for {
		batch, err := consumer.FetchNoWait(listBatch)
		if err != nil {
			return nil, nil, err
		}
		n := 0
		for msg := range batch.Messages() {
			n++
			if err := k.addListed(msg, armed, due); err != nil {
				k.Log.Warn("a message among the timers is none", "subject", msg.Subject(), "error", err)
			}
		}
		if err := batch.Error(); err != nil {
			return nil, nil, err
		}
		if n == 0 {
			_ = k.stream.DeleteConsumer(ctx, consumer.CachedInfo().Name) // else it is removed when inactive
			return armed, due, nil
		}
	}
}

// addListed adds the timer of a message to armed or due.
func (k *Keeper) addListed(msg jetstream.Msg, armed map[timerKey]stored, due map[timerKey]Timer) error {
	meta, err := msg.Metadata()
	if err != nil {
		return err
	}
	t, err := decode(msg.Subject(), msg.Data())
	if err != nil {
		return err
	}
	switch {
	case msg.Subject() == t.armedSubject():
		armed[t.key()] = stored{t, meta.Sequence.Stream}
	case k.Now().Sub(meta.Timestamp) < handlingTime:
		due[t.key()] = t
	}
	return nil
}
