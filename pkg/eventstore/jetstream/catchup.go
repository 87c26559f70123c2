package jetstream

import (
	"context"
	"sync"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/eventstore"
)

const (
	stretch   = 256 // commits that are handed over at once: one by one costs as much as to decode them
	stretches = 4   // that may wait
)

// catchUp reads what was there at the start. Who takes it in has as much to do as
// who decodes it, so one does not wait for the other; with what comes later it is
// not worth a goroutine.
func (r *reader) catchUp(ctx context.Context, consumer jetstream.Consumer, from *source) error {
	p, err := r.store.newPull(consumer.CachedInfo().Name, r.end-r.next+1)
	if err != nil {
		return r.lost(ctx, err)
	}
	defer p.end()
	reading, stop := context.WithCancel(ctx)
	ahead := make(chan []eventstore.Commit, stretches)
	var failed error
	var decoding sync.WaitGroup
	decoding.Go(func() {
		defer close(ahead)
		failed = p.all(reading, from, ahead)
	})
	defer decoding.Wait()
	defer stop()
	for some := range ahead {
		for _, c := range some {
			if err := r.take(c); err != nil {
				return err
			}
		}
	}
	if failed != nil {
		return r.lost(ctx, failed)
	}
	return nil
}

// all hands over the commits of all messages, also those before a failure.
func (p *pull) all(ctx context.Context, from *source, to chan<- []eventstore.Commit) error {
	var failed error
	for failed == nil && p.left+p.asked > 0 {
		some := make([]eventstore.Commit, 0, min(stretch, p.left+p.asked))
		for failed == nil && len(some) < cap(some) {
			var m *nats.Msg
			if m, failed = p.message(ctx); failed != nil {
				break
			}
			var c eventstore.Commit
			if c, failed = from.commit(m.Subject, m.Reply, m.Header, m.Data); failed == nil {
				some = append(some, c)
			}
		}
		select {
		case to <- some:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return failed
}
