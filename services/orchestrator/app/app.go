// Package app is the orchestrator: it provisions the streams, follows the log,
// answers sb.api and is the only one that writes events.
package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/eventstore"
	store "github.com/signalbox/signalbox/pkg/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/timer"
	"github.com/signalbox/signalbox/services/orchestrator/api"
	"github.com/signalbox/signalbox/services/orchestrator/duty"
)

// App is the orchestrator's flags.
type App struct {
	service.Flags
	Settings
}

// Settings is what the orchestrator is told beside the common flags.
type Settings struct {
	WorkflowDir string        `name:"workflow-dir" type:"existingdir" placeholder:"DIR" help:"Directory of lifecycles of your own, beside the built-in ones."`
	Watermark   string        `name:"watermark" type:"path" placeholder:"FILE" help:"File that remembers which log this was and how far it went, best on another disk; empty keeps it beside the log."`
	Replicas    int           `name:"replicas" default:"1" help:"Copies of the log in a NATS cluster, when it is made."`
	Sync        time.Duration `name:"sync" default:"0s" help:"How often the NATS server flushes to disk, as it was told itself: says how appends are sent, together when each is flushed (0), else one by one. It changes nothing at the server."`
	StandBy     bool          `name:"stand-by" default:"true" negatable:"" help:"Stand by while another orchestrator answers, and go on when it is gone; else all answer."`
	Verify      bool          `name:"verify" help:"Read the whole log before the start and check every chain, even if there is a snapshot to begin with."`
	AckWait     time.Duration `name:"ack-wait" default:"30s" help:"How long an agent may be silent before its work goes to another; also a claim's lease."`
	MaxDeliver  int           `name:"max-deliver" default:"50" help:"How often one piece of work is handed out before it is a dead letter."`
}

// Setup implements service.Program.
func (a *App) Setup(ctx context.Context, h *service.Host) error { return a.Settings.Setup(ctx, h) }

// Setup adds the orchestrator to a host. It returns when the log has been read.
func (s Settings) Setup(ctx context.Context, h *service.Host) error {
	js, err := jetstream.New(h.NATS)
	if err != nil {
		return err
	}
	log, err := store.Open(ctx, js, store.Config{Replicas: s.Replicas, Watermark: s.Watermark, Sync: s.Sync, Alone: s.StandBy})
	if err != nil {
		return err
	}
	if err := s.verify(ctx, h, js); err != nil {
		return err
	}
	guarded := eventstore.NewGuard(log)
	buckets, err := store.Provision(ctx, js, store.ProvisionConfig{Replicas: s.Replicas})
	if err != nil {
		return err
	}
	definitions, err := newRegistry(ctx, buckets.Definitions, s.WorkflowDir)
	if err != nil {
		return err
	}
	known, err := definitions.known(ctx, h.Log)
	if err != nil {
		return err
	}
	if err := s.consumers(ctx, js, known); err != nil {
		return err
	}
	m := newMetrics(h.Metrics)
	snapshots, err := s.snapshots(ctx, js, h.Log, log)
	if err != nil {
		return err
	}
	h.Health.Check("log", func(ctx context.Context) error { return store.Majority(ctx, js) })
	h.AddBaseOnce("majority", func(ctx context.Context) error { return store.StayWithMajority(ctx, js, store.MajorityEvery) })
	guard(h, guarded)
	h.AddBase("watermark", func(ctx context.Context) error {
		<-ctx.Done()
		return log.Close(context.WithoutCancel(ctx))
	})
	h.AddBase("dead letters", func(ctx context.Context) error { return mourn(ctx, h.Log, js, m) })
	h.AddBase("queues", func(ctx context.Context) error { return measure(ctx, js, definitions, m) })
	w := work{s, js, guarded, definitions, snapshots, m}
	if !s.StandBy {
		m.onDuty(true)
		return w.serve(ctx, h)
	}
	return shifts{h, duty.New(h.NATS, log), w.serve, m.onDuty}.add(ctx)
}

// work is all that an orchestrator works with.
type work struct {
	Settings
	js          jetstream.JetStream
	log         *eventstore.Guard
	definitions registry
	snapshots   *engine.Snapshots
	metrics     *metrics
}

// serve adds what works on the log. It returns when that has been read.
func (w work) serve(ctx context.Context, h *service.Host) error {
	own := engine.NewChanges()
	e := engine.New(engine.Config{
		Store: w.log, Definitions: w.definitions, Now: time.Now,
		Committed: func(before, after instance.Instance, c instance.Commit) {
			w.metrics.committed(before, after, c)
			if timer.Stirs(before, after) {
				own.Note(after.ID)
			}
			overdue(h.Log, before, c)
		},
		Conflicted: func(string) { w.metrics.conflicts.Inc() }, Snapshots: w.snapshots,
	})
	followed, linked := e.Changes(), e.Changes()
	if err := follow(ctx, h, e, w.metrics); err != nil {
		return err
	}
	w.timers(h, w.js, e, own, followed, w.definitions, w.metrics)
	links(h, e, linked, w.definitions)
	h.AddBase("direct work", func(ctx context.Context) error {
		e.Reclaim(ctx, func(err error) { h.Log.Warn("work is not given back to its queue yet; trying again", "error", err) })
		return nil
	})
	keep(h, e)
	server, err := api.Serve(api.Config{
		Conn: h.NATS, Engine: e, Store: w.log, Definitions: w.definitions, Version: api.Version, Log: h.Log, Answered: w.metrics.answered,
	})
	if err != nil {
		return err
	}
	h.AddBase("api", func(ctx context.Context) error {
		<-ctx.Done()
		return server.Close()
	})
	return nil
}

// follow starts following the log and returns when all that was there is read.
func follow(ctx context.Context, h *service.Host, e *engine.Engine, m *metrics) error {
	start, caught, failed := time.Now(), make(chan struct{}), make(chan error, 1)
	stopped := make(chan struct{})
	reading, stop := context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer close(stopped)
		failed <- e.Follow(reading, func() { close(caught) })
	}()
	h.AddBase("log", func(ctx context.Context) error {
		defer func() { stop(); <-stopped }()
		select {
		case err := <-failed:
			return fmt.Errorf("the log can no longer be followed: %w", err)
		case <-ctx.Done():
			return nil
		}
	})
	select {
	case <-caught:
		took := time.Since(start)
		m.replay.Set(took.Seconds())
		h.Log.Info("log read", "took", took.Round(time.Millisecond))
		return nil
	case err := <-failed:
		stop()
		return fmt.Errorf("read the log: %w", err)
	case <-ctx.Done():
		stop()
		return errors.Join(context.Cause(ctx), <-failed)
	}
}
