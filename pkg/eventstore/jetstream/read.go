package jetstream

import (
	"context"
	"errors"
	"fmt"
	"time"

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
// back is the log that went. With Config.Alone it is one only to catch up.
func (s *Store) Read(ctx context.Context, from uint64, f func(eventstore.Commit) error, caught func()) error {
	r := reader{store: s, next: max(from, 1), f: f, caught: caught}
	if s.config.Alone {
		r.feed = s.feeds.open()
		defer s.feeds.close(r.feed)
	}
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
	last    eventstore.Commit
	feed    *feed // nil: the server delivers all there is
}

// follow reads with one consumer for as long as that lives.
func (r *reader) follow(ctx context.Context) error {
	consumer, err := r.attach(ctx)
	if err != nil {
		return r.lost(ctx, err)
	}
	from := &source{next: r.next}
	if r.next <= r.end {
		if err := r.catchUp(ctx, consumer, from); err != nil {
			return err
		}
	}
	if r.feed != nil {
		r.feed.goOn(r.next)
		r.catches()
		return r.listen(ctx)
	}
	tail, err := r.store.tail(ctx, consumer, from)
	if err != nil {
		return r.lost(ctx, err)
	}
	defer tail.end()
	defer context.AfterFunc(ctx, tail.messages.Stop)()
	r.catches()
	for {
		c, err := tail.commit(ctx)
		if err != nil {
			return err
		}
		if err := r.take(c); err != nil {
			return err
		}
	}
}

// catches says once that all that was there is read.
func (r *reader) catches() {
	if r.caught != nil {
		r.caught()
		r.caught = nil
	}
}

// lost says of an error that passes that another consumer goes on.
func (r *reader) lost(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if passing(err) {
		return fmt.Errorf("%w: %w", errLost, err)
	}
	return err
}

// take gives away a commit.
func (r *reader) take(c eventstore.Commit) error {
	if err := r.f(c); err != nil {
		return err
	}
	r.store.mark.reached(c.Seq)
	r.next++
	r.last = c
	return nil
}

// attach makes a consumer of what is left to read, if it is still the same log.
func (r *reader) attach(ctx context.Context) (jetstream.Consumer, error) {
	last, err := r.store.examine(ctx, max(r.next, 1)-1)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, r.store.config.Timeout)
	defer cancel()
	if err := r.same(ctx); err != nil {
		return nil, err
	}
	if !r.started || r.feed != nil {
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
	return consumer, nil
}
