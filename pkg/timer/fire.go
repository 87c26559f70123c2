package timer

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/subject"
)

const (
	handleTimeout = 8 * time.Second // less than the consumer waits before it hands a timer out again
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
	messages, err := consumer.Messages(jetstream.PullMaxMessages(1))
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
		k.hear(ctx, stream, msg)
	}
}

// hear gives one timer to the engine. The message goes once that is settled: as
// long as it is there, the timer is due and was not taken.
func (k *Keeper) hear(ctx context.Context, stream jetstream.Stream, msg jetstream.Msg) {
	log := k.Log.With("subject", msg.Subject())
	meta, err := msg.Metadata()
	if err != nil {
		log.Error("a timer has no place in its stream", "error", err)
		return
	}
	t, err := decode(msg.Subject(), msg.Data())
	if err != nil {
		log.Error("what is due is no timer", "error", err)
		k.settle(ctx, stream, msg, meta.Sequence.Stream)
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
		delay := min(time.Second<<min(meta.NumDelivered, 10), maxDelay)
		if ctx.Err() != nil {
			delay = 0 // this process ends, another may try
		} else {
			log.Warn("a timer that is due was not heard; trying again", "error", err, "tries", meta.NumDelivered)
		}
		_ = msg.NakWithDelay(delay) // lost, it comes again after the consumer's wait
		return
	case no.Code == instance.Early:
		// Two clocks: the server's is ahead of this process's.
		if left := t.Due.Sub(k.Now()); left > 0 {
			_ = msg.NakWithDelay(left)
			return
		}
	case no.Code == instance.Undecided, no.Code == instance.Invalid:
		log.Error("the definition has no answer to a timer", "error", err)
		k.settle(ctx, stream, msg, meta.Sequence.Stream)
		return // not noted: it would be armed and refused again at once
	default:
		log.Debug("a timer is of no use any more", "error", err)
	}
	k.settle(ctx, stream, msg, meta.Sequence.Stream)
	// When it fired, the server removed whatever waited at its place: also what
	// was armed there a moment before.
	k.fired.Note(t.Instance)
}

// settle removes a message that was heard. If it cannot, the timer is heard
// again, and refused.
func (k *Keeper) settle(ctx context.Context, stream jetstream.Stream, msg jetstream.Msg, at uint64) {
	if err := remove(context.WithoutCancel(ctx), stream, msg.Subject(), at); err != nil {
		k.Log.Debug("a timer that was heard stays behind", "subject", msg.Subject(), "error", err)
		return
	}
	_ = msg.Ack() // lost, it comes again no more: there is no message
}
