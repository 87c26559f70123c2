package natstest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Drained waits until all that is in a stream for a durable consumer with filters
// was handed out and is settled.
func Drained(ctx context.Context, js jetstream.JetStream, stream, durable string) error {
	var now level
	consumer, err := js.Consumer(ctx, stream, durable)
	for err == nil {
		if err = now.look(ctx, js, consumer); err != nil {
			break
		}
		if now.empty() {
			return nil
		}
		if now.waiting > 0 && now.unsettled == 0 {
			err = recount(consumer)
		}
		select {
		case <-time.After(5 * time.Millisecond): // the server does not notify of a settled message
		case <-ctx.Done():
			err = errors.Join(err, ctx.Err())
		}
	}
	return fmt.Errorf("of the queue %s %d are not handed out and %d not settled; it is at %d of %d: %w",
		durable, now.waiting, now.unsettled, now.at, now.last, err)
}

// level is how full a queue is, as its consumer counts, and how far it has got. These are
// the sequences of the message it delivered last and of its newest one.
type level struct{ waiting, unsettled, at, last uint64 }

// empty does not rely on counts alone: a nats-server counts a message for a
// consumer only after it has acknowledged the message to its publisher.
func (l level) empty() bool { return l.at >= l.last && l.waiting == 0 && l.unsettled == 0 }

// look reads it.
func (l *level) look(ctx context.Context, js jetstream.JetStream, consumer jetstream.Consumer) error {
	of := consumer.CachedInfo()
	stream, err := js.Stream(ctx, of.Stream)
	if err != nil {
		return err
	}
	for _, filter := range of.Config.FilterSubjects {
		msg, err := stream.GetLastMsgForSubject(ctx, filter)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		l.last = max(l.last, msg.Sequence)
	}
	info, err := consumer.Info(ctx)
	if err != nil {
		return err
	}
	l.waiting, l.unsettled, l.at = info.NumPending, uint64(info.NumAckPending), info.Delivered.Stream
	return nil
}

// recount pulls a message and naks it. A nats-server that is asked for a consumer's state
// while it delivers may count one too many until the next pull.
func recount(consumer jetstream.Consumer) error {
	batch, err := consumer.FetchNoWait(1)
	if err != nil {
		return err
	}
	for msg := range batch.Messages() {
		err = errors.Join(err, msg.Nak())
	}
	return errors.Join(err, batch.Error())
}
