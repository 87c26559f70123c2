package jetstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/eventstore"
	"github.com/signalbox/signalbox/pkg/subject"
)

const (
	readAhead = 5000             // commits asked for at once: fastest when measured
	readBytes = 8 << 20          // and bytes: a server hangs up on a client it has too many for
	expiry    = 10 * time.Second // of one request for more
	heartbeat = time.Second      // how often an idle consumer says it lives; twice that and it is replaced
	patience  = 3 * time.Second  // how long nothing may come before the reader asks whether there is something
)

// errLost says that the consumer is of no use any more and another goes on.
var errLost = errors.New("consumer lost")

// Read implements eventstore.Store. It is an ordered consumer: read ahead,
// never acknowledged, replaced when it is lost. The client library's own waits
// for the server without a context, and does not ask whether the log that came
// back is the log that went.
func (s *Store) Read(ctx context.Context, from uint64, f func(eventstore.Commit) error, caught func()) error {
	r := reader{store: s, next: max(from, 1), f: f, caught: caught}
	pause := pauses()
	for {
		before := r.next
		err := r.follow(ctx)
		if !errors.Is(err, errLost) {
			return err
		}
		if r.next > before {
			pause.Reset()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause.NextBackOff()):
		}
	}
}

type reader struct {
	store   *Store
	next    uint64 // the sequence to read next
	f       func(eventstore.Commit) error
	started bool
	end     uint64 // the last sequence at the start
	caught  func() // nil once called
}

// follow reads with one consumer for as long as that lives.
func (r *reader) follow(ctx context.Context) error {
	messages, err := r.attach(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if passing(err) {
			return fmt.Errorf("%w: %w", errLost, err)
		}
		return err
	}
	defer messages.Stop()
	defer context.AfterFunc(ctx, messages.Stop)()
	wait := r.begin(ctx)
	defer func() { wait.end() }()
	for delivered := uint64(1); ; delivered++ {
		if r.caught != nil && r.next > r.end {
			r.caught()
			r.caught = nil
		}
		m, err := r.await(ctx, messages, &wait)
		if err != nil {
			return err
		}
		at, err := m.Metadata()
		if err != nil {
			return fmt.Errorf("read sequence %d: %w", r.next, err)
		}
		if at.Sequence.Consumer != delivered {
			return fmt.Errorf("%w: a delivery went missing", errLost)
		}
		if at.Sequence.Stream != r.next {
			return fmt.Errorf("%w: sequences %d to %d are missing", eventstore.ErrCorrupt, r.next, at.Sequence.Stream-1)
		}
		c, err := decode(m.Subject(), m.Headers(), m.Data(), r.next)
		if err != nil {
			return err
		}
		if err := r.f(c); err != nil {
			return err
		}
		r.store.mark.reached(c.Seq)
		r.next++
	}
}

// spell is a while in which something has to come. It is one for many
// deliveries: a timer for each costs as much as to decode it.
type spell struct {
	option jetstream.NextOpt
	end    context.CancelFunc
	from   uint64 // what was to be read next when it began
}

func (r *reader) begin(ctx context.Context) spell {
	ctx, cancel := context.WithTimeout(ctx, patience)
	return spell{jetstream.NextContext(ctx), cancel, r.next}
}

// await returns the next delivery. The last one before a pause can get lost, on a
// connection that breaks or a route that is full, with no later one to show the
// gap: after a while without any it asks the log.
func (r *reader) await(ctx context.Context, messages jetstream.MessagesContext, wait *spell) (jetstream.Msg, error) {
	for {
		m, err := messages.Next(wait.option)
		switch {
		case err == nil:
			return m, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, nats.ErrConnectionClosed):
			return nil, fmt.Errorf("read sequence %d: %w", r.next, err)
		case !errors.Is(err, context.DeadlineExceeded):
			return nil, fmt.Errorf("%w: %w", errLost, err)
		}
		if r.next == wait.from {
			if last, err := r.store.Head(ctx); err != nil || last >= r.next {
				return nil, fmt.Errorf("%w: nothing comes", errLost)
			}
		}
		wait.end()
		*wait = r.begin(ctx)
	}
}

// attach makes a consumer of what is left to read, if it is still the same log.
func (r *reader) attach(ctx context.Context) (jetstream.MessagesContext, error) {
	last, err := r.store.examine(ctx, max(r.next, 1)-1)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, r.store.config.Timeout)
	defer cancel()
	if !r.started {
		r.started, r.end = true, last
	}
	consumer, err := r.store.stream.CreateConsumer(ctx, jetstream.ConsumerConfig{
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: r.next,
		AckPolicy: jetstream.AckNonePolicy, MemoryStorage: true, Replicas: 1,
		InactiveThreshold: 3 * expiry,
	})
	if err != nil {
		return nil, fmt.Errorf("read stream %s: %w", subject.EventStream, err)
	}
	return consumer.Messages(jetstream.PullMaxMessagesWithBytesLimit(readAhead, readBytes), jetstream.PullExpiry(expiry),
		jetstream.PullHeartbeat(heartbeat), jetstream.WithMessagesErrOnMissingHeartbeat(true))
}
