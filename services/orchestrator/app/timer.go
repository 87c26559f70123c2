package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine"
	store "github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/projection"
	"github.com/signalbox/signalbox/pkg/engine/timer"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/service"
)

// timerWorkers is how many due timers are handled at a time. Many are due at once after an outage, and
// each waits for a commit.
const timerWorkers = 32

// timers adds the actors that arm the timers of all instances and handle those that are due.
func (s Settings) timers(h *service.Host, js jetstream.JetStream, e *engine.Engine, own, followed *projection.Changes, d registry, m *metrics) {
	keeper := timer.New(timer.Config{
		JetStream: js, Engine: e, Definitions: d, Own: own, Followed: followed, Now: time.Now, Log: h.Log,
		Stream: func(ctx context.Context) (jetstream.Stream, error) { return store.EnsureTimers(ctx, js, s.Replicas) },
		Armed:  m.armed.Inc,
		Fired:  func(late time.Duration) { m.late.Observe(late.Seconds()) },
	})
	h.AddBase("timers", keeper.Keep)
	for range timerWorkers {
		h.AddBase("due timers", keeper.Fire)
	}
}

// logOverdue logs the deadlines that a commit records as passed. Each is logged once, by the orchestrator
// that appended the commit.
func logOverdue(log *slog.Logger, in instance.Instance, c instance.Commit) {
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
			level, says = slog.LevelError, "a stay is far too long: a person should look"
		}
		log.Log(context.Background(), level, says, "instance", in.ID, "workflow", in.Workflow, "state", out.State,
			"level", out.Level, "after", out.After.Round(time.Millisecond), "owner", in.Owner)
	}
}
