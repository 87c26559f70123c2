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
	"github.com/signalbox/signalbox/pkg/wire"
	"github.com/signalbox/signalbox/pkg/workflow"
)

// mourn tells people how an issue ended when it ended without a pull request:
// an end nobody hears of is the worst kind. It works until ctx ends.
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
			b.log.Warn("cannot tell people how an issue ended; trying again", "error", err)
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
		}
	}
	return nil
}

// bury posts the comment of one ended instance.
func (b *bridge) bury(ctx context.Context, c *client.Client, msg jetstream.Msg) error {
	ended, err := subject.ParseEvent(msg.Subject())
	if err != nil {
		return errors.Join(err, msg.TermWithReason(err.Error()))
	}
	in, err := c.Get(ctx, ended.Instance)
	if err != nil {
		return errors.Join(err, msg.NakWithDelay(later(msg)))
	}
	if in.GetKind() != string(workflow.Final) { // of an escalation, or of a state that waits
		return msg.Ack()
	}
	issue, last := wire.ToIssue(in.GetIssue()), wire.ToResult(in.GetLastResult())
	if issue.Number == 0 || last.Data["pr_url"] != "" {
		return msg.Ack()
	}
	_, err = b.post(ctx, ended.Instance, issue, "ended", ending(in.GetState(), in.GetReason(), last))
	if err != nil {
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
