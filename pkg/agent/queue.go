package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/base/pacing"
	"github.com/signalbox/signalbox/pkg/engine/subject"
)

// A pull request is open at the server for pullExpiry. The server confirms it
// every pullHeartbeat, and has lost it if more than two heartbeats are missing.
const (
	pullExpiry    = 30 * time.Second
	pullHeartbeat = time.Second
	pullLost      = 2*pullHeartbeat + pullHeartbeat/2
)

// queue receives the messages of a role's consumer for one worker. Only the
// worker's goroutine may use it.
//
// It has at most one open pull request, for one message, and sends it when receive is
// called. So no message waits here while its ack wait runs. The client library's iterator
// is not used. After a reconnect it may have two requests open, and it drops the message
// that its buffer of one has no room for. Dropped work is delivered again after the ack
// wait only.
type queue struct {
	nc      *nats.Conn
	pull    string // subject of pull requests
	log     *slog.Logger
	backOff *backoff.ExponentialBackOff
	sub     *nats.Subscription // to the replies of one request; nil if none is open
}

func newQueue(js jetstream.JetStream, role string, log *slog.Logger) *queue {
	api := js.Options()
	return &queue{
		nc: js.Conn(), pull: subject.Pull(api.Domain, api.APIPrefix, role), log: log.With("role", role), backOff: newBackOff(),
	}
}

// receive waits for one message. ok is false if ctx has ended; the pull request
// then may still be open, until stop.
func (q *queue) receive(ctx context.Context) (msg *nats.Msg, ok bool) {
	for ctx.Err() == nil {
		msg, err := q.next(ctx)
		if err == nil {
			q.backOff.Reset()
			return msg, true
		}
		if ctx.Err() != nil {
			break
		}
		q.abandon()
		if q.nc.IsConnected() { // else the connection logs it
			q.log.Warn("cannot take work; trying again", "error", err)
		}
		_ = pacing.Pause(ctx, q.backOff.NextBackOff())
	}
	return nil, false
}

// next returns the message that a pull request brings. After an error the
// request is to be abandoned.
func (q *queue) next(ctx context.Context) (*nats.Msg, error) {
	for {
		if err := q.request(); err != nil {
			return nil, err
		}
		alive, cancel := context.WithTimeout(ctx, pullLost)
		msg, err := q.sub.NextMsgWithContext(alive)
		cancel()
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			return nil, errors.New("no heartbeat of the server")
		case err != nil:
			return nil, err
		case msg.Reply != "":
			q.abandon() // it is answered
			return msg, nil
		}
		switch status := msg.Header.Get("Status"); status {
		case "100": // a heartbeat
		case "408": // expired
			q.abandon()
			q.backOff.Reset()
		default:
			return nil, fmt.Errorf("%s %s", status, msg.Header.Get("Description"))
		}
	}
}

// request opens a pull request, unless there is one.
func (q *queue) request() error {
	if q.sub != nil {
		return nil
	}
	if !q.nc.IsConnected() {
		return nats.ErrDisconnected
	}
	sub, err := q.nc.SubscribeSync(q.nc.NewInbox())
	if err != nil {
		return err
	}
	q.sub = sub
	return q.nc.PublishRequest(q.pull, sub.Subject, fmt.Appendf(nil, `{"batch":1,"expires":%d,"idle_heartbeat":%d}`, pullExpiry,
		pullHeartbeat))
}

// abandon gives the pull request up: the server drops one whose inbox has no
// subscription.
func (q *queue) abandon() {
	if q.sub != nil {
		_ = q.sub.Unsubscribe() // fails only if the connection is closed
		q.sub = nil
	}
}

// stop closes the pull request. A message that was delivered meanwhile is
// delivered again at once, to another agent. Without a connection stop does not
// wait for one.
func (q *queue) stop() {
	if q.sub == nil {
		return
	}
	if !q.nc.IsConnected() || q.sub.Drain() != nil {
		q.abandon()
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), shutdownGrace)
	defer cancel()
	for {
		msg, err := q.sub.NextMsgWithContext(ctx)
		if err != nil { // drained, or the server does not reply
			return
		}
		if msg.Reply == "" {
			continue
		}
		if err := (delivery{msg}).nak(0); err != nil {
			q.log.Warn("acknowledgement lost", "subject", msg.Subject, "error", err)
		}
	}
}
