package jetstream

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
)

const (
	chunkSize = 256 // commits that are passed on at once: one by one costs as much as decoding them
	maxChunks = 4   // chunks that may wait
)

// chunk is decoded commits, and why there are no more.
type chunk struct {
	commits []eventstore.Commit
	err     error
}

// catchUp reads the commits up to r.end. The client library's goroutine decodes
// them and this one calls r.take: either takes as long as the other.
func (r *reader) catchUp(ctx context.Context, consumer jetstream.Consumer, from *source) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	decoded, broken := make(chan chunk, maxChunks), make(chan error, 1)
	var received atomic.Uint64
	var next chunk
	consuming, err := consumer.Consume(func(m jetstream.Msg) {
		if next.err != nil {
			return
		}
		received.Add(1)
		var c eventstore.Commit
		if c, next.err = from.commit(m.Subject(), m.Reply(), m.Headers(), m.Data()); next.err == nil {
			next.commits = append(next.commits, c)
		}
		if len(next.commits) < chunkSize && from.next <= r.end && next.err == nil {
			return
		}
		select {
		case decoded <- next:
			next.commits = make([]eventstore.Commit, 0, chunkSize)
		case <-ctx.Done():
			next.err = ctx.Err()
		}
	}, jetstream.PullMaxMessagesWithBytesLimit(readAhead, readBytes), jetstream.PullExpiry(expiry), jetstream.PullHeartbeat(heartbeat),
		jetstream.StopAfter(int(r.end-r.next+1)), jetstream.ConsumeErrHandler(func(_ jetstream.ConsumeContext, err error) {
			select {
			case broken <- err:
			default: // the first one is enough
			}
		}))
	if err != nil {
		return r.lost(ctx, err)
	}
	defer func() {
		stop()
		consuming.Stop()
		<-consuming.Closed()
	}()
	silence := time.NewTicker(patience)
	defer silence.Stop()
	for before := uint64(0); r.next <= r.end; {
		select {
		case some := <-decoded:
			for _, c := range some.commits {
				if err := r.take(c); err != nil {
					return err
				}
			}
			if some.err != nil {
				return r.lost(ctx, some.err)
			}
		case <-ctx.Done():
			return ctx.Err()
		case err := <-broken:
			if errors.Is(err, jetstream.ErrConnectionClosed) || errors.Is(err, nats.ErrConnectionClosed) {
				return fmt.Errorf("read sequence %d: %w", r.next, nats.ErrConnectionClosed)
			}
			return fmt.Errorf("%w: %w", errLost, err)
		case <-silence.C:
			if now := received.Load(); now != before || len(decoded) > 0 {
				before = now
				continue
			}
			return fmt.Errorf("%w: nothing was delivered for %v", errLost, patience)
		}
	}
	return nil
}
