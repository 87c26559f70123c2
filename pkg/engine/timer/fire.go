package timer

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/base/pacing"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
)

const (
	prefetch      = 4               // redelivered to another process if this one is killed
	handleTimeout = 4 * time.Second // less than the consumer's ack wait
	maxDelay      = time.Minute     // between two deliveries of one timer
)

// Fire sends the commands of fired timers to the engine, one after the other, until
// ctx ends. Call it several times to handle several at a time.
func (k *Keeper) Fire(ctx context.Context) error {
	for pause := pacing.Backoff(100*time.Millisecond, 5*time.Second); ; {
		err := k.fire(ctx, func() { pause.Reset(); k.failing.Store(false) })
		if ctx.Err() != nil {
			return nil
		}
		if k.failing.CompareAndSwap(false, true) {
			k.Log.Warn("due timers cannot be taken; trying again", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause.NextBackOff()):
		}
	}
}

// fire handles timers until an error. It calls received for each message.
func (k *Keeper) fire(ctx context.Context, received func()) error {
	setup, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	stream, err := k.JetStream.Stream(setup, subject.TimerStream)
	if err != nil {
		return err
	}
	consumer, err := stream.Consumer(setup, subject.TimerConsumer)
	if err != nil {
		return err
	}
	messages, err := consumer.Messages(jetstream.PullMaxMessages(prefetch))
	if err != nil {
		return err
	}
	defer messages.Stop()
	defer context.AfterFunc(ctx, messages.Stop)() // Next does not return on ctx while the server is unreachable
	for {
		msg, err := messages.Next(jetstream.NextContext(ctx))
		if err != nil {
			return err
		}
		received()
		k.handle(ctx, msg)
	}
}

// handle sends one timer's command to the engine and acknowledges the message once
// the outcome is known.
func (k *Keeper) handle(ctx context.Context, msg jetstream.Msg) {
	log := k.Log.With("subject", msg.Subject())
	t, err := decode(msg.Subject(), msg.Data())
	if err != nil {
		log.Error("a due entry is no timer", "error", err)
		_ = msg.Ack() // here and below: if the ack is lost, the timer comes again and is refused
		return
	}
	handling, cancel := context.WithTimeout(ctx, handleTimeout)
	defer cancel()
	out, err := k.Engine.Handle(handling, t.Command(), "")
	var no *instance.Refusal
	switch {
	case err == nil && !out.Duplicate:
		k.Fired(k.Now().Sub(t.Due))
	case err == nil:
	case !errors.As(err, &no):
		_ = msg.NakWithDelay(k.delay(ctx, log, msg, err))
		return
	case no.Code == instance.CodeEarly:
		// The server's clock is ahead of this process's.
		if left := t.Due.Sub(k.Now()); left > 0 {
			_ = msg.NakWithDelay(left)
			return
		}
	case no.Code == instance.CodeUndecided, no.Code == instance.CodeInvalid:
		log.Error("the definition has no answer to a timer", "error", err)
		_ = msg.Ack()
		return // not in fired: it would be armed and refused again at once
	default:
		log.Debug("a timer is of no use any more", "error", err)
	}
	_ = msg.Ack()
	// When a timer fires the server removes the message at its armed subject, even one
	// stored a moment before.
	k.fired.Note(t.Instance)
}

// delay returns how long a timer waits after an error: longer each time, and 0 if
// this process ends, for another to try.
func (k *Keeper) delay(ctx context.Context, log *slog.Logger, msg jetstream.Msg, err error) time.Duration {
	meta, e := msg.Metadata()
	if e != nil || ctx.Err() != nil {
		return 0
	}
	log.Warn("a timer that is due was not delivered; trying again", "error", err, "tries", meta.NumDelivered)
	return min(time.Second<<min(meta.NumDelivered-1, 10), maxDelay)
}
