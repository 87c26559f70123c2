package agent

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/nats-io/nats.go/jetstream"
)

// A pull request is open at the server for pullExpiry. The server confirms it
// every pullHeartbeat. After two missing heartbeats the request is sent again.
const (
	pullExpiry    = 30 * time.Second
	pullHeartbeat = time.Second
)

// queue receives the messages of a role's consumer for one worker. Only the
// worker's goroutine may use it.
//
// It has at most one open pull request, for one message, and sends it when
// receive is called. So no message waits here while its ack wait runs. One
// request for all idle workers saves 2 to 4 % of the CPU time of a piece of
// work, for a pull loop of our own.
type queue struct {
	consumer jetstream.Consumer
	log      *slog.Logger
	messages jetstream.MessagesContext // nil before the first message and after an error
	backOff  *backoff.ExponentialBackOff
}

// receive waits for one message. ok is false if ctx has ended; the pull request
// then may still be open, until stop.
func (q *queue) receive(ctx context.Context) (msg jetstream.Msg, ok bool) {
	for ctx.Err() == nil {
		msg, err := q.next(ctx)
		if err == nil {
			q.backOff.Reset()
			return msg, true
		}
		if ctx.Err() != nil {
			break
		}
		q.log.Warn("cannot take work; trying again", "error", err)
		pause(ctx, q.backOff.NextBackOff())
	}
	return nil, false
}

// next returns the iterator's next message. The iterator recovers from a missing
// heartbeat; after another error, as when the consumer was deleted, next opens a
// new one.
func (q *queue) next(ctx context.Context) (jetstream.Msg, error) {
	if q.messages == nil {
		messages, err := q.consumer.Messages(
			jetstream.PullMaxMessages(1), jetstream.PullExpiry(pullExpiry), jetstream.PullHeartbeat(pullHeartbeat))
		if err != nil {
			return nil, err
		}
		q.messages = messages
	}
	msg, err := q.messages.Next(jetstream.NextContext(ctx))
	if err != nil && ctx.Err() == nil && !errors.Is(err, jetstream.ErrNoHeartbeat) {
		q.messages.Stop()
		q.messages = nil
	}
	return msg, err
}

// stop closes the pull request. A message that was delivered meanwhile is
// delivered again at once, to another agent. Without a connection stop does not
// wait for one.
func (q *queue) stop(connected bool) {
	if q.messages == nil {
		return
	}
	if !connected {
		q.messages.Stop()
		return
	}
	q.messages.Drain()
	ctx, cancel := context.WithTimeout(context.Background(), shutdownGrace)
	defer cancel()
	for {
		msg, err := q.messages.Next(jetstream.NextContext(ctx))
		if err != nil { // drained, or the server does not reply
			return
		}
		if err := msg.Nak(); err != nil {
			q.log.Warn("acknowledgement lost", "subject", msg.Subject(), "error", err)
		}
	}
}
