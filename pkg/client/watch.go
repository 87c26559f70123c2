package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/access"
	"github.com/signalbox/signalbox/pkg/eventstore"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/pacing"
	"github.com/signalbox/signalbox/pkg/subject"
	"github.com/signalbox/signalbox/pkg/wire"
)

// LogEntry is one commit of the log, decoded, with what its subject says.
type LogEntry struct {
	subject.Event
	instance.Commit
}

// ErrStopWatch is returned by Watch's callback to end the Watch without an error.
var ErrStopWatch = errors.New("seen enough")

// Watch calls f, from the caller's goroutine, for each commit after the given sequence: those of one
// instance, or of all if id is empty. It returns when ctx ends, or f's error, if that is not ErrStopWatch.
func (c *Client) Watch(ctx context.Context, id string, after uint64, f func(LogEntry) error) error {
	js, err := access.JetStream(ctx, c.nc)
	if err != nil {
		return err
	}
	filter := subject.Events
	if id != "" {
		if filter, err = subject.Instance(id); err != nil {
			return err
		}
	}
	consumer, err := newConsumer(ctx, js, jetstream.OrderedConsumerConfig{
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
		if !IsCommit(msg.Headers()) {
			continue
		}
		entry, err := decodeEntry(msg)
		if err == nil {
			err = f(entry)
		}
		switch {
		case errors.Is(err, ErrStopWatch):
			return nil
		case err != nil:
			return err
		}
	}
}

// newConsumer creates a consumer of the log. It tries again until there is a reply or ctx ends, since a
// server that has just restarted may lose a request.
func newConsumer(ctx context.Context, js jetstream.JetStream, c jetstream.OrderedConsumerConfig) (jetstream.Consumer, error) {
	return backoff.Retry(ctx, func() (jetstream.Consumer, error) {
		try, cancel := context.WithTimeout(ctx, perTry)
		defer cancel()
		consumer, err := js.OrderedConsumer(try, subject.EventStream, c)
		if err != nil && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, nats.ErrTimeout) {
			err = backoff.Permanent(err)
		}
		return consumer, err
	}, backoff.WithBackOff(pacing.Backoff(20*time.Millisecond, 2*time.Second)), backoff.WithMaxElapsedTime(0))
}

// IsCommit reports whether a message of the log is a commit, by its headers. What other programs wrote
// there is none; the orchestrator sets it aside and says so.
func IsCommit(h nats.Header) bool { return h.Get("Sb-Chain") != "" }

func decodeEntry(msg jetstream.Msg) (LogEntry, error) {
	e, err := subject.ParseEvent(msg.Subject())
	if err != nil {
		return LogEntry{}, err
	}
	meta, err := msg.Metadata()
	if err != nil {
		return LogEntry{}, err
	}
	at, err := time.Parse(time.RFC3339Nano, msg.Headers().Get("ce-time")) // of the decision
	if err != nil {
		return LogEntry{}, err
	}
	id := cmp.Or(msg.Headers().Get("Sb-Id"), msg.Headers().Get(jetstream.MsgIDHeader))
	stored := eventstore.Commit{Seq: meta.Sequence.Stream, ID: id, Instance: e.Instance, Time: at, Data: msg.Data()}
	commit, err := wire.ToCommit(stored)
	return LogEntry{e, commit}, err
}
