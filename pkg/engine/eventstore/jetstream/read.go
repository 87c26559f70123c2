package jetstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/base/pacing"
	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/subject"
)

const (
	readAhead = 5000             // commits of one pull request: fastest when measured
	readBytes = 8 << 20          // and bytes: a server disconnects a client that is slow to take more
	expiry    = 10 * time.Second // of one pull request
	heartbeat = time.Second      // interval of an idle consumer's heartbeats; after twice that it is replaced
	removal   = time.Second / 2  // how long the deletion of a consumer may take
	patience  = 3 * time.Second  // how long nothing may come before the reader checks the log's head
)

// errLost means that a consumer is of no use any more: another continues.
var errLost = errors.New("consumer lost")

// Read implements eventstore.Store. It reads with an ordered consumer of its own:
// never acknowledged, and replaced when it is lost. The client library's ordered
// consumer waits for the server without a context, and does not check that it
// still is the same log. With Config.Alone the consumer is for catching up only.
func (s *Store) Read(ctx context.Context, from uint64, f func(eventstore.Commit) error, caught func()) error {
	r := reader{store: s, next: max(from, 1), f: f, caught: caught}
	if s.config.Alone {
		r.local = s.readers.add()
		defer s.readers.remove(r.local)
	}
	pause := pacing.Backoff(50*time.Millisecond, 2*time.Second)
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

// reader is one call of Read. Only the goroutine of that call uses it.
type reader struct {
	store   *Store
	next    uint64 // the sequence to read next
	f       func(eventstore.Commit) error
	started bool
	end     uint64 // newest sequence when the consumer was created
	caught  func() // nil once called
	last    eventstore.Commit
	local   *localCommits // nil: the server delivers all commits
}

// follow reads with one consumer for as long as that lives.
func (r *reader) follow(ctx context.Context) (err error) {
	consumer, err := r.createConsumer(ctx)
	if err != nil {
		return r.lost(ctx, err)
	}
	defer func() {
		if !errors.Is(err, errLost) {
			r.store.remove(ctx, consumer)
		}
	}()
	from := &source{next: r.next}
	if r.next <= r.end {
		if err := r.catchUp(ctx, consumer, from); err != nil {
			return err
		}
	}
	if r.local != nil {
		r.local.resumeAt(r.next)
		r.caughtUp()
		return r.followLocal(ctx)
	}
	tail, err := r.store.tail(ctx, consumer, from)
	if err != nil {
		return r.lost(ctx, err)
	}
	defer tail.end()
	defer context.AfterFunc(ctx, tail.messages.Stop)()
	r.caughtUp()
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

// caughtUp calls caught, once.
func (r *reader) caughtUp() {
	if r.caught != nil {
		r.caught()
		r.caught = nil
	}
}

// lost adds errLost to an error that passes: another consumer continues.
func (r *reader) lost(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if passing(err) {
		return fmt.Errorf("%w: %w", errLost, err)
	}
	return err
}

// take passes a commit to the caller of Read.
func (r *reader) take(c eventstore.Commit) error {
	if err := r.f(c); err != nil {
		return err
	}
	r.store.tracker.advance(c.Seq)
	r.next++
	r.last = c
	return nil
}

// createConsumer creates a consumer of what is left to read, after it has checked
// that it still is the same log.
func (r *reader) createConsumer(ctx context.Context) (jetstream.Consumer, error) {
	last, err := r.store.checkLog(ctx, max(r.next, 1)-1)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, r.store.config.Timeout)
	defer cancel()
	if err := r.checkLast(ctx); err != nil {
		return nil, err
	}
	if !r.started || r.local != nil {
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

// remove deletes a consumer that is of no use any more. The server deletes it, too, when
// nothing has asked for it for a while.
func (s *Store) remove(ctx context.Context, consumer jetstream.Consumer) {
	name := consumer.CachedInfo().Name
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removal)
	defer cancel()
	_ = s.stream.DeleteConsumer(ctx, name) // its InactiveThreshold is for where this fails
}
