package timer

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/subject"
)

const (
	prefetch      = 4               // they wait for another process if this one is killed
	handleTimeout = 4 * time.Second // less than the consumer waits before it hands a timer out again
	maxDelay      = time.Minute     // between two tries of one timer
)

// Fire has the engine hear of the timers that are due, one after the other,
// until ctx ends. Call it more than once to have several heard at a time.
func (k *Keeper) Fire(ctx context.Context) error {
	failing := false
	for pause := pauses(); ; {
		err := k.fire(ctx, func() { pause.Reset(); failing = false })
		if ctx.Err() != nil {
			return nil
		}
		if !failing {
			k.Log.Warn("due timers cannot be taken; trying again", "error", err)
			failing = true
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause.NextBackOff()):
		}
	}
}

func (k *Keeper) fire(ctx context.Context, well func()) error {
	look, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	stream, err := k.JetStream.Stream(look, subject.TimerStream)
	if err != nil {
		return err
	}
	consumer, err := stream.Consumer(look, subject.TimerConsumer)
	if err != nil {
		return err
	}
	messages, err := consumer.Messages(jetstream.PullMaxMessages(prefetch))
	if err != nil {
		return err
	}
	defer messages.Stop()
	defer context.AfterFunc(ctx, messages.Stop)() // while the server is away, Next heeds nothing else
	for {
		msg, err := messages.Next(jetstream.NextContext(ctx))
		if err != nil {
			return err
		}
		well()
		k.hear(ctx, msg)
	}
}

// hear gives one timer to the engine. It is acknowledged once that is settled,
// and removed some time later.
func (k *Keeper) hear(ctx context.Context, msg jetstream.Msg) {
	log := k.Log.With("subject", msg.Subject())
	t, err := decode(msg.Subject(), msg.Data())
	if err != nil {
		log.Error("what is due is no timer", "error", err)
		_ = msg.Ack() // here and below: lost, the timer is heard again, and refused
		return
	}
	one, cancel := context.WithTimeout(ctx, handleTimeout)
	defer cancel()
	out, err := k.Engine.Handle(one, t.Command(), "")
	var no *instance.Refusal
	switch {
	case err == nil && !out.Duplicate:
		k.Fired(k.Now().Sub(t.Due))
	case err == nil:
	case !errors.As(err, &no):
		_ = msg.NakWithDelay(k.delay(ctx, log, msg, err))
		return
	case no.Code == instance.CodeEarly:
		// Two clocks: the server's is ahead of this process's.
		if left := t.Due.Sub(k.Now()); left > 0 {
			_ = msg.NakWithDelay(left)
			return
		}
	case no.Code == instance.CodeUndecided, no.Code == instance.CodeInvalid:
		log.Error("the definition has no answer to a timer", "error", err)
		_ = msg.Ack()
		return // not noted: it would be armed and refused again at once
	default:
		log.Debug("a timer is of no use any more", "error", err)
	}
	_ = msg.Ack()
	// When it fired, the server removed whatever waited at its place: also what
	// was armed there a moment before.
	k.fired.Note(t.Instance)
}

// delay is how long a timer waits after a fault: longer each time, not at all
// if this process ends and another may try.
func (k *Keeper) delay(ctx context.Context, log *slog.Logger, msg jetstream.Msg, err error) time.Duration {
	meta, e := msg.Metadata()
	if e != nil || ctx.Err() != nil {
		return 0
	}
	log.Warn("a timer that is due was not heard; trying again", "error", err, "tries", meta.NumDelivered)
	return min(time.Second<<min(meta.NumDelivered-1, 10), maxDelay)
}
