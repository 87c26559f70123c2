// Package app is the orchestrator: it provisions the streams, follows the log, serves sb.api, and is
// the only writer of events.
package app

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/engine/attestation"
	"github.com/signalbox/signalbox/pkg/engine/dispatch"
	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	store "github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/ledger"
	"github.com/signalbox/signalbox/pkg/engine/projection"
	"github.com/signalbox/signalbox/pkg/engine/projection/snapshot"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/engine/timer"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/service/access"
	"github.com/signalbox/signalbox/services/orchestrator/api"
	"github.com/signalbox/signalbox/services/orchestrator/standby"
)

// App is the orchestrator's flags.
type App struct {
	service.Flags
	Settings
}

// Settings are the orchestrator's flags in addition to the common ones.
type Settings struct {
	WorkflowDir string        `name:"workflow-dir" type:"existingdir" placeholder:"DIR" help:"Directory of lifecycles of your own, in addition to the built-in ones."`
	Watermark   string        `name:"watermark" type:"path" placeholder:"FILE" help:"File that remembers which log this was and how far it went, best on another disk; empty keeps it next to the log."`
	AttestKey   string        `name:"attest-key" type:"path" placeholder:"FILE" help:"Private key, Ed25519 in PEM, that signs a statement on each change that is pushed. No other process needs it. Empty: nothing is attested."`
	Replicas    int           `name:"replicas" default:"1" help:"Copies of the log in a NATS cluster, when it is made."`
	Sync        time.Duration `name:"sync" default:"0s" help:"How often the NATS server flushes to disk, as it is configured itself. It decides how appends are sent: together when each is flushed (0), else one by one. It changes nothing at the server."`
	StandBy     bool          `name:"stand-by" default:"true" negatable:"" help:"Stand by while another orchestrator answers, and go on when it is gone; else all answer."`
	Verify      bool          `name:"verify" help:"Read the whole log before the start and check every chain, even if there is a snapshot to begin with."`
	AtOnce      []string      `name:"at-once" sep:"none" placeholder:"LIMIT" help:"How much may be under way at a time, as [repo=OWNER/NAME,][state=STATE,][role=ROLE]:N; more work waits. May be repeated."`
	AckWait     time.Duration `name:"ack-wait" default:"60s" help:"How long an agent may be silent before its work goes to another; also a claim's lease."`
	MaxDeliver  int           `name:"max-deliver" default:"50" help:"How often one piece of work is handed out before it is a dead letter."`
	Budget      []string      `name:"budget" sep:"none" placeholder:"[repo=OWNER/NAME,][role=ROLE,]day=AMOUNT" help:"Limit of a day's (UTC) cost, of one repository (or a pattern, acme/*) or role or of all: 20usd, 500000tokens or 8h of steps. When that is spent, work rests until the day ends. May be repeated."`
	GitHubRight string        `name:"github-right" enum:"none,view,act,admin" default:"none" placeholder:"RIGHT" help:"The greatest right of people who sign in to the console by GitHub: none, view, act or admin; ${default} by default. The console's --github-team gives each theirs, and this bounds it."`

	// AgentsEnd means that the agents end with the orchestrator, as those of one process do: no
	// lease is prolonged after a start.
	AgentsEnd bool `kong:"-"`
}

// Main is the service, for a program that serves it.
func Main() service.Main {
	return service.Main{Name: "orchestrator", About: "Decides every move and writes it to the log; any number of replicas may run.", Program: &App{}}
}

// Setup implements service.Program.
func (a *App) Setup(ctx context.Context, h *service.Host) error { return a.Settings.Setup(ctx, h) }

// Setup provisions the streams and adds the orchestrator to a host. It returns when the log has been
// read, or, if another orchestrator is active, when this one stands by.
func (s Settings) Setup(ctx context.Context, h *service.Host) error {
	js, err := access.JetStreamAs(ctx, h.NATS, access.Party{Kind: access.Orchestrator})
	if err != nil {
		return err
	}
	entry, err := access.FindEntry(ctx, h.NATS)
	if err != nil {
		return err
	}
	if !h.NATS.AuthRequired() {
		h.Log.Warn("NATS asks for no credentials: all that reach it command this system; see signalbox auth")
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
	m := newMetrics(h.Metrics, h.NATS.IsConnected)
	definitions, err := newRegistry(ctx, buckets.Definitions, s.WorkflowDir, logExchanged(h.Log, m))
	if err != nil {
		return err
	}
	m.expect(definitions.catalog.All(), append(definitions.roles(), subject.Endings))
	key, err := s.signingKey()
	if err != nil {
		return service.Usagef("--attest-key: %w", err)
	}
	limits, err := s.limits(definitions.catalog.All())
	if err != nil {
		return service.Usagef("--at-once: %w", err)
	}
	budgets, err := s.budgets(definitions.catalog.All())
	if err != nil {
		return err
	}
	code, err := store.OpenObjects(ctx, js, store.ObjectBucket)
	if err != nil {
		return err
	}
	stored, err := definitions.stored(ctx, js, h.Log)
	if err != nil {
		return err
	}
	if err := s.consumers(ctx, js, stored); err != nil {
		return err
	}
	snapshots, err := s.snapshots(ctx, js, h.Log, log)
	if err != nil {
		return err
	}
	h.Health.Check("log", func(ctx context.Context) error { return store.Majority(ctx, js) })
	h.AddBaseOnce("majority", func(ctx context.Context) error {
		return store.StayWithMajority(ctx, js, store.MajorityEvery, store.Majority)
	})
	endWhenDamaged(h, guarded)
	settings := &settingsWatch{js: js, log: h.Log, metrics: m}
	h.Health.Check("settings", settings.check)
	h.AddBase("settings", settings.run)
	storage := &storageWatch{js: js, log: h.Log, metrics: m, full: log.Full}
	storage.register(h.Metrics)
	h.Health.Check("storage", storage.check)
	h.Health.Warn("storage", storage.near)
	h.AddBase("storage", storage.run)
	unread := &definitionWatch{js: js, definitions: definitions}
	unread.register(h.Metrics)
	h.Health.Warn("definitions", unread.check)
	h.AddBase("definitions", unread.run)
	h.AddBase("watermark", func(ctx context.Context) error {
		<-ctx.Done()
		return log.Close(context.WithoutCancel(ctx))
	})
	h.AddBase("dead letters", func(ctx context.Context) error { return watchDeadLetters(ctx, h.Log, js, m) })
	idle := new(unserved)
	q := queueWatch{js, definitions, m, h.Log, idle, func(ctx context.Context) error {
		all, err := definitions.stored(ctx, js, h.Log)
		if err != nil {
			return err
		}
		return s.consumers(ctx, js, all)
	}}
	h.Health.Warn("agents", q.idle.check)
	h.AddBase("queues", func(ctx context.Context) error { return q.run(ctx) })
	o := orchestrator{s, js, entry, guarded, definitions, limits, snapshots, m, &strangers{log: h.Log, metrics: m}, objects{js, code}, budgets, key, standby.NewElector(h.NATS, log), storage, idle}
	if !s.StandBy {
		m.setActive(true)
		return o.serve(ctx, h)
	}
	return terms{h, o.elector, o.serve, m.setActive}.add(ctx)
}

// orchestrator holds what outlasts a term.
type orchestrator struct {
	Settings
	js          jetstream.JetStream
	entry       access.Entry
	log         *eventstore.Guard
	definitions registry
	limits      []dispatch.Limit
	snapshots   *snapshot.Config
	metrics     *metrics
	strangers   *strangers
	objects     objects
	budgets     []ledger.Budget
	key         ed25519.PrivateKey
	elector     *standby.Elector
	storage     *storageWatch
	idle        *unserved
}

// signingKey reads the key of attestations, nil if there is none.
func (s Settings) signingKey() (ed25519.PrivateKey, error) {
	if s.AttestKey == "" {
		return nil, nil
	}
	text, err := os.ReadFile(s.AttestKey)
	if err != nil {
		return nil, err
	}
	return attestation.ParsePrivate(text)
}

// serve adds the actors of one term to the host: all that follow the log or append to it. It returns when
// the log has been read.
func (o orchestrator) serve(ctx context.Context, h *service.Host) error {
	own := projection.NewChanges()
	var e *engine.Engine
	spent := ledger.New(o.budgets, func(id string) (instance.Instance, bool) { return e.Known(id) })
	e = engine.New(engine.Config{
		Store: o.log, Definitions: o.definitions, Now: time.Now,
		Committed: func(before, after instance.Instance, c instance.Commit) {
			o.metrics.committed(before, after, c)
			warnOf(h.Log, spent.Ahead(c, after.ID))
			if timer.Affects(before, after) {
				own.Note(after.ID)
			}
			logOverdue(h.Log, before, c)
			logRefused(h.Log, after.ID, c)
		},
		Budget:     spent,
		Conflicted: func(string) { o.metrics.conflicts.Inc() }, Foreign: o.strangers.note, Snapshots: o.snapshots,
		Keep: o.definitions.keep, Limits: o.limits, Lease: o.lease(), Reachable: h.NATS.IsConnected,
	})
	followed, linked := e.Changes(), e.Changes()
	if err := follow(ctx, h, e, o.metrics); err != nil {
		return err
	}
	if err := o.spending(ctx, h, spent); err != nil {
		return err
	}
	if err := o.prolong(ctx, h.Log, e); err != nil {
		return err
	}
	o.timers(h, o.js, e, own, followed, o.definitions, o.metrics)
	links(h, e, linked, o.definitions)
	h.AddBase("claimed work", func(ctx context.Context) error { return o.metrics.claimed.run(ctx, e.List) })
	h.AddBase("direct work", func(ctx context.Context) error {
		e.Reclaim(ctx, func(err error) { h.Log.Warn("work is not given back to its queue yet; trying again", "error", err) })
		return nil
	})
	h.AddBase("snapshots", func(ctx context.Context) error { return saveSnapshots(ctx, h.Log, e) })
	server, err := api.Serve(api.Config{
		Conn: h.NATS, Entry: o.entry, Engine: e, Store: o.log, Definitions: o.definitions, Objects: o.objects, Key: o.key, GitHubRight: access.Kind(o.GitHubRight), Version: api.Version, Log: h.Log,
		Answered: o.metrics.answered, Forbidden: o.metrics.forbade,
		Health: health{o, h, e, time.Now()}.checks, Waiting: o.idle.waiting,
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

// follow starts to follow the log and returns when the engine has read what was in it at the start.
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
