package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/nats-io/nats.go"
	"google.golang.org/protobuf/proto"

	pb "github.com/signalbox/signalbox/proto/signalbox/v1"

	"github.com/signalbox/signalbox/pkg/base/pacing"
	"github.com/signalbox/signalbox/pkg/engine/wire"
)

const (
	// perTry bounds the wait for the reply to one try.
	perTry = 5 * time.Second
	// quickTry bounds it for the first quickTries tries. An orchestrator that was killed or is paused
	// replies to none, and another one soon takes over. A repeated command is carried out once.
	quickTry   = 1500 * time.Millisecond
	quickTries = 3
)

// sender sends one request once, and returns the data of its reply.
type sender func(ctx context.Context, msg *nats.Msg) ([]byte, error)

// alone is the sender of requests that are not batched.
func (c *Client) alone(ctx context.Context, msg *nats.Msg) ([]byte, error) {
	return send(ctx, c.nc, msg)
}

func send(ctx context.Context, nc conn, msg *nats.Msg) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, perTry)
	defer cancel()
	reply, err := nc.RequestMsgWithContext(ctx, msg)
	if err != nil {
		return nil, err
	}
	return reply.Data, nil
}

// request sends q until there is a reply, which it decodes into reply. It returns ErrUnavailable if ctx
// ends before.
func (c *Client) request(ctx context.Context, msg *nats.Msg, send sender, q, reply proto.Message) (err error) {
	if msg.Data, err = proto.Marshal(q); err != nil {
		return err
	}
	last := c.try(ctx, quickTry, msg, send, reply)
	if last == nil {
		return nil
	}
	failed, quick := last, quickTries
	_, err = backoff.Retry(ctx, func() (struct{}, error) {
		err := failed
		if failed = nil; err == nil {
			timeout := perTry
			if quick > 0 {
				timeout = quickTry
			}
			err = c.try(ctx, timeout, msg, send, reply)
		}
		if errors.Is(err, context.DeadlineExceeded) {
			quick--
		}
		if ctx.Err() == nil && !told(last, err) { // else the try was cut short, and its error says nothing
			last = err
		}
		return struct{}{}, err
	}, backoff.WithBackOff(pacing.Backoff(20*time.Millisecond, 2*time.Second)), backoff.WithMaxElapsedTime(0))
	if errors.Is(last, ErrUnavailable) {
		return fmt.Errorf("%w; until then: %w", err, last)
	}
	return err
}

// told reports whether an orchestrator has given a reason, and the newer try has none.
func told(last, newer error) bool {
	return errors.As(last, new(*RefusedError)) && errors.Is(newer, ErrUnavailable) && !errors.As(newer, new(*RefusedError))
}

// try sends msg once. Its error is permanent, or ErrUnavailable: then the caller may try again.
func (c *Client) try(ctx context.Context, timeout time.Duration, msg *nats.Msg, send sender, reply proto.Message) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	began := time.Now()
	data, err := send(ctx, msg)
	if err == nil {
		c.failover.noteReply()
	} else {
		c.failover.noteFailure(began, err)
	}
	switch {
	case errors.Is(err, nats.ErrConnectionClosed), errors.Is(err, nats.ErrMaxPayload), errors.Is(err, nats.ErrBadSubject):
		return backoff.Permanent(err)
	case err != nil:
		return fmt.Errorf("%w on %s: %w", ErrUnavailable, msg.Subject, err)
	}
	if err := wire.Unmarshal(data, reply); err != nil {
		return backoff.Permanent(fmt.Errorf("reply on %s: %w", msg.Subject, err))
	}
	if r, ok := reply.(interface{ GetRefusal() *pb.Refusal }); ok && r.GetRefusal().GetCode() == "unavailable" {
		return &RefusedError{r.GetRefusal().GetMessage()}
	}
	return nil
}
