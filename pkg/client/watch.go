package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/eventstore"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/subject"
	"github.com/signalbox/signalbox/pkg/wire"
)

// Seen is one commit as a watcher sees it.
type Seen struct {
	subject.Event
	instance.Commit
}

// ErrDone ends a Watch from within.
var ErrDone = errors.New("seen enough")

// Watch calls f for each commit behind sequence after, of one instance or, when
// id is empty, of all, as they come. It ends with ctx, or with f's error;
// ErrDone ends it without one.
func (c *Client) Watch(ctx context.Context, id string, after uint64, f func(Seen) error) error {
	js, err := jetstream.New(c.nc)
	if err != nil {
		return err
	}
	filter := subject.Events
	if id != "" {
		if filter, err = subject.Instance(id); err != nil {
			return err
		}
	}
	consumer, err := attach(ctx, js, jetstream.OrderedConsumerConfig{
		FilterSubjects: []string{filter}, DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: after + 1,
	})
	if err != nil {
		return fmt.Errorf("watch: %w", err)
	}
	messages, err := consumer.Messages()
	if err != nil {
		return fmt.Errorf("watch: %w", err)
	}
	defer messages.Stop()
	defer context.AfterFunc(ctx, messages.Stop)() // Next ignores its context while the server is away
	for {
		msg, err := messages.Next(jetstream.NextContext(ctx))
		if ctx.Err() != nil {
			return fmt.Errorf("watch: %w", ctx.Err())
		}
		if err != nil {
			return fmt.Errorf("watch: %w", err)
		}
		seen, err := see(msg)
		if err == nil {
			err = f(seen)
		}
		switch {
		case errors.Is(err, ErrDone):
			return nil
		case err != nil:
			return err
		}
	}
}

// attach asks for a consumer until there is an answer or ctx ends: a server that
// just came back may lose a request.
func attach(ctx context.Context, js jetstream.JetStream, c jetstream.OrderedConsumerConfig) (jetstream.Consumer, error) {
	return backoff.Retry(ctx, func() (jetstream.Consumer, error) {
		try, cancel := context.WithTimeout(ctx, perTry)
		defer cancel()
		consumer, err := js.OrderedConsumer(try, subject.EventStream, c)
		if err != nil && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, nats.ErrTimeout) {
			err = backoff.Permanent(err)
		}
		return consumer, err
	}, backoff.WithBackOff(newBackOff()), backoff.WithMaxElapsedTime(0))
}

func see(msg jetstream.Msg) (Seen, error) {
	e, err := subject.ParseEvent(msg.Subject())
	if err != nil {
		return Seen{}, err
	}
	meta, err := msg.Metadata()
	if err != nil {
		return Seen{}, err
	}
	at, err := time.Parse(time.RFC3339Nano, msg.Headers().Get("ce-time")) // when it was decided
	if err != nil {
		return Seen{}, err
	}
	stored := eventstore.Commit{Seq: meta.Sequence.Stream, ID: msg.Headers().Get(jetstream.MsgIDHeader), Instance: e.Instance, Time: at, Data: msg.Data()}
	commit, err := wire.ToCommit(stored)
	return Seen{e, commit}, err
}
