package app

import (
	"context"
	"errors"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/client"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/subject"
)

// mourn tells people what they have to know: that an issue ended without a pull
// request, for an end nobody hears of is the worst kind, and what waits for them.
// It works until ctx ends.
func (b *bridge) mourn(ctx context.Context, h *service.Host, js jetstream.JetStream) error {
	consumer, err := backoff.Retry(ctx, func() (jetstream.Consumer, error) {
		return js.Consumer(ctx, subject.EventStream, subject.Endings)
	}, backoff.WithMaxElapsedTime(0))
	if err != nil {
		return nil // stopped before there was anything to do
	}
	c := client.New(h.NATS, h.Name)
	for ctx.Err() == nil {
		msg, err := consumer.Next(jetstream.FetchContext(ctx))
		if err == nil {
			err = b.bury(ctx, c, msg)
		}
		if err != nil && ctx.Err() == nil && !errors.Is(err, nats.ErrTimeout) {
			b.log.Warn("cannot tell people how an issue stands; trying again", "error", err)
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
		}
	}
	return nil
}

// bury posts what is to be said after one commit.
func (b *bridge) bury(ctx context.Context, c *client.Client, msg jetstream.Msg) error {
	after, err := subject.ParseEvent(msg.Subject())
	if err != nil {
		return errors.Join(err, msg.TermWithReason(err.Error()))
	}
	in, err := c.Get(ctx, after.Instance)
	if err != nil {
		return errors.Join(err, msg.NakWithDelay(later(msg)))
	}
	if err := b.tell(ctx, after, in); err != nil {
		return errors.Join(err, msg.NakWithDelay(later(msg)))
	}
	return msg.Ack()
}

// later spaces out tries: 5, 10, 20 … 300 seconds, so that those the queue
// allows outlast a rate limit.
func later(msg jetstream.Msg) time.Duration {
	meta, err := msg.Metadata()
	if err != nil {
		return 5 * time.Second
	}
	return min(5*time.Second<<min(meta.NumDelivered-1, 6), 5*time.Minute)
}

func ending(state, reason string, last instance.Result) string {
	return rules.Ending(rules.End{State: state, Reason: reason, Summary: last.Summary, Failed: last.IssuesFound})
}
