package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine"
	store "github.com/signalbox/signalbox/pkg/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/timer"
	"github.com/signalbox/signalbox/pkg/workflow"
)

// hearers is how many due timers are heard at a time: many come at once after
// an outage, and each waits for the disk and for answers.
const hearers = 32

// timers keeps the deadlines of all instances.
func (s Settings) timers(h *service.Host, js jetstream.JetStream, e *engine.Engine, own, followed *engine.Changes, d registry, m *metrics) {
	keeper := timer.New(timer.Config{
		JetStream: js, Engine: e, Definitions: d, Own: own, Followed: followed, Now: time.Now, Log: h.Log,
		Stream: func(ctx context.Context) (jetstream.Stream, error) { return store.EnsureTimers(ctx, js, s.Replicas) },
		Armed:  m.armed.Inc,
		Fired:  func(late time.Duration) { m.late.Observe(late.Seconds()) },
	})
	h.AddBase("timers", keeper.Keep)
	for range hearers {
		h.AddBase("due timers", keeper.Fire)
	}
}

// overdue logs each deadline that passed, once: by the replica that recorded it.
func overdue(log *slog.Logger, in instance.Instance, c instance.Commit) {
	for _, e := range c.Events {
		out, ok := e.(instance.TimedOut)
		if !ok {
			continue
		}
		level, says := slog.LevelInfo, "a stay is long"
		switch out.Level {
		case workflow.Alert:
			level, says = slog.LevelWarn, "a stay is longer than expected"
		case workflow.Escalation:
			level, says = slog.LevelError, "a stay is far too long: somebody should look"
		}
		log.Log(context.Background(), level, says, "instance", in.ID, "workflow", in.Workflow, "state", out.State,
			"level", out.Level, "after", out.After.Round(time.Millisecond), "owner", in.Owner)
	}
}
