package timer

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/subject"
)

// reconcile compares all that is stored with all that should be: it arms what
// is missing and disarms what no instance wants. A timer that has just become
// due and was not heard yet is not armed a second time.
func (k *Keeper) reconcile(ctx context.Context) error {
	k.Own.Take() // it looks at all
	k.Followed.Take()
	k.forget()
	var err error
	if k.stream, err = k.Stream(ctx); err != nil {
		return err
	}
	armed, due, err := k.stored(ctx)
	if err != nil {
		return fmt.Errorf("list the timers: %w", err)
	}
	// After the timers: then it has every commit that one was derived from.
	open, err := k.Engine.List(ctx, func(in instance.Instance) bool { return in.Closed == "" })
	if err != nil {
		return err
	}
	k.have = armed
	var arm, drop []Timer
	wanted := map[place]bool{}
	for _, in := range open {
		for _, t := range k.of(ctx, in) {
			at := t.place()
			wanted[at] = true
			if h := armed[at]; !h.same(t) && !due[at].same(t) && h.Seq <= t.Seq {
				arm = append(arm, t)
			}
		}
	}
	for at, h := range armed {
		if !wanted[at] {
			drop = append(drop, h.Timer)
		}
	}
	start := time.Now()
	err = k.change(ctx, arm, drop)
	if len(arm)+len(drop) > 0 {
		k.Log.Info("timers reconciled", "stored", len(armed)-len(drop), "due", len(due), "armed", len(arm), "disarmed", len(drop), "took", time.Since(start))
	}
	return err
}

const (
	listed = 1000            // messages asked for at a time
	fresh  = 2 * time.Minute // how long a timer that is due is expected to be heard
)

// stored lists the timers in the stream, those that wait and those that are
// due. It removes those that were heard.
func (k *Keeper) stored(ctx context.Context) (armed map[place]held, due map[place]Timer, err error) {
	armed, due = map[place]held{}, map[place]Timer{}
	hearing, err := k.stream.Consumer(ctx, subject.TimerConsumer)
	if err != nil {
		return nil, nil, err
	}
	heard := hearing.CachedInfo().AckFloor.Stream
	if err := k.stream.Purge(ctx, jetstream.WithPurgeSubject(subject.FiredTimers), jetstream.WithPurgeSequence(heard+1)); err != nil {
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
		batch, err := consumer.FetchNoWait(listed)
		if err != nil {
			return nil, nil, err
		}
		n := 0
		for msg := range batch.Messages() {
			n++
			if err := k.list(msg, armed, due); err != nil {
				k.Log.Warn("a message among the timers is none", "subject", msg.Subject(), "error", err)
			}
		}
		if err := batch.Error(); err != nil {
			return nil, nil, err
		}
		if n == 0 {
			_ = k.stream.DeleteConsumer(ctx, consumer.CachedInfo().Name) // it would go by itself
			return armed, due, nil
		}
	}
}

func (k *Keeper) list(msg jetstream.Msg, armed map[place]held, due map[place]Timer) error {
	meta, err := msg.Metadata()
	if err != nil {
		return err
	}
	t, err := decode(msg.Subject(), msg.Data())
	if err != nil {
		return err
	}
	switch {
	case msg.Subject() == t.waits():
		armed[t.place()] = held{t, meta.Sequence.Stream}
	case k.Now().Sub(meta.Timestamp) < fresh:
		due[t.place()] = t
	}
	return nil
}
