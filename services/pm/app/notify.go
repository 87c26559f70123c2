package app

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
	"github.com/signalbox/signalbox/pkg/service"
)

// notifyEnded posts comments about instances that ended without a pull request,
// and about those that wait for people. It works until ctx ends.
func (h *handler) notifyEnded(ctx context.Context, host *service.Host, js jetstream.JetStream) error {
	consumer, err := backoff.Retry(ctx, func() (jetstream.Consumer, error) {
		return js.Consumer(ctx, subject.EventStream, subject.Endings)
	}, backoff.WithMaxElapsedTime(0))
	if err != nil {
		return nil // stopped before there was anything to do
	}
	c := client.New(host.NATS, host.Name)
	for ctx.Err() == nil {
		msg, err := consumer.Next(jetstream.FetchContext(ctx))
		if err == nil {
			err = h.notify(ctx, c, msg)
		}
		if err != nil && ctx.Err() == nil && !errors.Is(err, nats.ErrTimeout) {
			h.log.Warn("cannot tell people how an issue stands; trying again", "error", err)
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
		}
	}
	return nil
}

// notify posts the comments that one commit calls for, and acknowledges it.
func (h *handler) notify(ctx context.Context, c *client.Client, msg jetstream.Msg) error {
	if !client.IsCommit(msg.Headers()) {
		h.log.Warn("a message that is no commit is not passed on to people", "subject", strconv.Quote(msg.Subject()))
		return msg.TermWithReason("it is no commit")
	}
	after, err := subject.ParseEvent(msg.Subject())
	if err != nil {
		return errors.Join(err, msg.TermWithReason(err.Error()))
	}
	in, err := c.Get(ctx, after.Instance)
	if err != nil {
		return errors.Join(err, msg.NakWithDelay(later(msg, retryAfter)))
	}
	if err := h.tell(ctx, after, in); err != nil {
		longest := retryAfter
		if forgeside.RefusesComment(err) { // the comment stays owed: people may unlock the issue after weeks
			longest = owedAfter
		}
		return errors.Join(err, msg.NakWithDelay(later(msg, longest)))
	}
	return msg.Ack()
}

// The longest delays between two tries: of what failed, and of a comment that the forge refuses.
const (
	retryAfter = 5 * time.Minute
	owedAfter  = 24 * time.Hour
)

// later returns the delay before the next try: 5, 10, 20 seconds and so on, at most longest. The
// queue allows any number of tries.
func later(msg jetstream.Msg, longest time.Duration) time.Duration {
	meta, err := msg.Metadata()
	if err != nil {
		return 5 * time.Second
	}
	return min(5*time.Second<<min(meta.NumDelivered-1, 15), longest)
}

func ending(state, reason string, last instance.Result) string {
	return rules.Ending(rules.End{State: state, Reason: reason, Summary: last.Summary, Failed: last.IssuesFound})
}
