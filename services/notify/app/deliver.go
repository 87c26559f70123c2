package app

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/base/pacing"
	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/engine/yamlfile"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// The results of a delivery, for the metric.
const (
	delivered = "delivered"
	again     = "again"
	givenUp   = "given_up"
)

const (
	longest  = 10 * time.Minute // between two tries
	getLimit = 10 * time.Second // for the orchestrator's reply
	maxKnown = 10_000           // deliveries that are remembered
)

// notifier delivers the facts of the log. One goroutine uses it.
//
// A commit is acknowledged when each target that wants it has it, so it is delivered again
// after any crash. Then targets that had it get it again under the same id.
type notifier struct {
	Settings
	writer
	log     *slog.Logger
	client  *client.Client
	targets []target
	count   *prometheus.CounterVec
	now     func() time.Time

	definitions map[string]*workflow.Definition // by hash; nil: it cannot be read
	delivered   map[string]bool                 // by id and target
	order       []string                        // the same, the oldest first
}

// run delivers until ctx ends.
func (n *notifier) run(ctx context.Context, js jetstream.JetStream) error {
	consumer, err := backoff.Retry(ctx, func() (jetstream.Consumer, error) {
		return js.Consumer(ctx, subject.EventStream, subject.Notifications)
	}, backoff.WithMaxElapsedTime(0), backoff.WithBackOff(pacing.Backoff(time.Second, time.Minute)), backoff.WithNotify(func(err error, _ time.Duration) {
		n.log.Warn("nobody is notified: the queue of commits is not found; is the orchestrator of this version, "+
			"and NATS configured with its `signalbox auth`?", "queue", subject.Notifications, "error", err)
	}))
	if err != nil {
		return nil // stopped before there was anything to do
	}
	for ctx.Err() == nil {
		msg, err := consumer.Next(jetstream.FetchContext(ctx))
		if err == nil {
			err = n.handle(ctx, msg)
		}
		if err != nil && ctx.Err() == nil && !errors.Is(err, nats.ErrTimeout) {
			n.log.Warn("cannot read what people are notified of; trying again", "error", err)
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
		}
	}
	return nil
}

// handle delivers the facts of one commit, and acknowledges it, or gives it back for later.
func (n *notifier) handle(ctx context.Context, msg jetstream.Msg) error {
	after, err := subject.ParseEvent(msg.Subject())
	commit := new(pb.Commit)
	if err != nil || !client.IsCommit(msg.Headers()) || proto.Unmarshal(msg.Data(), commit) != nil {
		return msg.Ack() // a foreign message, which the orchestrator reports
	}
	meta, err := msg.Metadata()
	if err != nil {
		return err
	}
	facts := factsOf(wire.ToEvents(commit))
	old := n.now().Sub(meta.Timestamp) > n.MaxAge
	if len(facts) == 0 || old && meta.NumDelivered == 1 {
		return msg.Ack()
	}
	// A delivery under way ends after a stop, too: else a target would get it again.
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), getLimit)
	defer cancel()
	in, err := n.client.Get(within, after.Instance)
	if err != nil {
		return errors.Join(err, msg.NakWithDelay(n.pause(meta)))
	}
	def, missing := n.definition(within, in), false
	for _, f := range facts {
		if f.holds(in, def) && !n.deliver(ctx, f, msg, meta, in, old) {
			missing = true
		}
	}
	switch {
	case missing && ctx.Err() != nil:
		return msg.Nak() // for the next process
	case missing:
		return msg.NakWithDelay(n.pause(meta))
	}
	acknowledge, cancel := context.WithTimeout(context.WithoutCancel(ctx), getLimit)
	defer cancel()
	return msg.DoubleAck(acknowledge)
}

// deliver delivers a fact to each target that wants it and does not have it. It reports whether
// none is left. An old one is given up.
func (n *notifier) deliver(ctx context.Context, f fact, msg jetstream.Msg, meta *jetstream.MsgMetadata, in *pb.Instance, old bool) (done bool) {
	done = true
	chosen := in.GetIssue().GetConfig().GetNotify()
	n.warn(chosen, in)
	note := n.write(f, meta.Sequence.Stream, meta.Timestamp, in)
	for _, t := range n.targets {
		key := note.ID + " " + t.name
		if !t.wants(f, note.Repository, chosen) || n.delivered[key] {
			continue
		}
		if old {
			n.count.WithLabelValues(t.name, givenUp).Inc()
			n.log.Error("a notification is given up: its target did not take it in time", "target", t.name, "event", note.Event, "instance", note.Instance, "tries", meta.NumDelivered-1)
			continue
		}
		if ctx.Err() != nil {
			return false
		}
		_ = msg.InProgress() // else it is delivered again while targets answer slowly
		err := t.send(context.WithoutCancel(ctx), note, n.source())
		switch {
		case err == nil:
			n.count.WithLabelValues(t.name, delivered).Inc()
			n.know(key)
		default:
			done = false
			n.count.WithLabelValues(t.name, again).Inc()
			n.log.Warn("a notification is not delivered yet", "target", t.name, "event", note.Event, "instance", note.Instance, "error", err, "again_in", n.pause(meta))
		}
	}
	return done
}

// warn logs once that a repository chooses a target that the operator has not defined.
func (n *notifier) warn(chosen map[string]string, in *pb.Instance) {
	for _, name := range slices.Sorted(maps.Keys(chosen)) {
		key := "unknown " + in.GetIssue().GetRepo() + " " + name
		if n.delivered[key] || slices.ContainsFunc(n.targets, func(t target) bool { return t.name == name && name != desktopName }) {
			continue
		}
		n.know(key)
		n.log.Warn("a repository chooses a target of notifications that the file of targets does not have: nobody is notified for it",
			"repository", in.GetIssue().GetRepo(), "file", in.GetIssue().GetConfig().GetFile(), "target", yamlfile.Quoted(name))
	}
}

// definition returns the lifecycle of an instance, nil if it cannot be read.
func (n *notifier) definition(ctx context.Context, in *pb.Instance) *workflow.Definition {
	def, known := n.definitions[in.GetDefinition()]
	if known {
		return def
	}
	reply, err := n.client.Definition(ctx, in.GetDefinition())
	if err != nil {
		return nil
	}
	if def, err = workflow.Load(in.GetWorkflow(), reply.GetSource()); err != nil {
		n.log.Warn("a lifecycle cannot be read: each of its ends counts as a success", "workflow", in.GetWorkflow(), "error", err)
	}
	n.definitions[in.GetDefinition()] = def
	return def
}

// know remembers that a target has a notification.
func (n *notifier) know(key string) {
	n.delivered[key], n.order = true, append(n.order, key)
	if len(n.order) > maxKnown {
		delete(n.delivered, n.order[0])
		n.order = n.order[1:]
	}
}

// pause returns the time before the next try.
func (n *notifier) pause(meta *jetstream.MsgMetadata) time.Duration {
	return min(n.Retry<<min(meta.NumDelivered-1, 16), longest)
}

// source is the source of the CloudEvents: with their id, it is unique.
func (n *notifier) source() string {
	if n.Console != "" {
		return n.Console
	}
	return "/signalbox"
}
