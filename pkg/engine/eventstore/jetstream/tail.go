package jetstream

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
)

// tail reads a consumer's deliveries one by one, as they come. Only the goroutine
// of Read uses it.
type tail struct {
	store    *Store
	from     *source
	messages jetstream.MessagesContext
	wait     spell
}

// spell is a time in which a delivery is expected. It lasts for many deliveries: a
// timer for each would cost as much as decoding it.
type spell struct {
	option jetstream.NextOpt
	end    context.CancelFunc
	from   uint64 // sequence to read next when it began
}

func (s *Store) tail(ctx context.Context, consumer jetstream.Consumer, from *source) (*tail, error) {
	messages, err := consumer.Messages(jetstream.PullMaxMessagesWithBytesLimit(readAhead, readBytes), jetstream.PullExpiry(expiry),
		jetstream.PullHeartbeat(heartbeat), jetstream.WithMessagesErrOnMissingHeartbeat(true))
	if err != nil {
		return nil, err
	}
	t := &tail{store: s, from: from, messages: messages}
	t.wait = t.begin(ctx)
	return t, nil
}

func (t *tail) end() {
	t.wait.end()
	t.messages.Stop()
}

func (t *tail) begin(ctx context.Context) spell {
	ctx, cancel := context.WithTimeout(ctx, patience)
	return spell{jetstream.NextContext(ctx), cancel, t.from.next}
}

// commit returns the next commit. errLost means that the consumer is of no use any
// more.
func (t *tail) commit(ctx context.Context) (eventstore.Commit, error) {
	m, err := t.await(ctx)
	if err != nil {
		return eventstore.Commit{}, err
	}
	return t.from.commit(m.Subject(), m.Reply(), m.Headers(), m.Data())
}

// await returns the next delivery. The last one before a pause can be lost, on a connection
// that breaks or a route that is full. No later one shows the gap. So await checks the
// log's head when nothing came for a while.
func (t *tail) await(ctx context.Context) (jetstream.Msg, error) {
	for {
		m, err := t.messages.Next(t.wait.option)
		switch {
		case err == nil:
			return m, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, nats.ErrConnectionClosed):
			return nil, fmt.Errorf("read sequence %d: %w", t.from.next, err)
		case !errors.Is(err, context.DeadlineExceeded):
			return nil, fmt.Errorf("%w: %w", errLost, err)
		}
		if t.from.next == t.wait.from {
			if last, err := t.store.Head(ctx); err != nil || last >= t.from.next {
				return nil, fmt.Errorf("%w: nothing comes", errLost)
			}
		}
		t.wait.end()
		t.wait = t.begin(ctx)
	}
}
