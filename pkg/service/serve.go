package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/oklog/run"
	"github.com/prometheus/client_golang/prometheus"
)

// Host is what a running service stands on.
type Host struct {
	Name    string // what this process calls itself, unique among those of its service
	HTTP    string // where metrics and health are served, "" for nowhere
	Log     *slog.Logger
	NATS    *nats.Conn
	Metrics *prometheus.Registry
	Health  *Health
	Grace   time.Duration // how long an actor may take to end

	actors actors
}

// Add gives the service an actor. The first actor to return ends the service.
// When ctx ends run takes no new work, ends what it has within Grace, and
// returns.
func (h *Host) Add(name string, run func(ctx context.Context) error) {
	h.actors.add(name, run)
}

// AddBase gives the service an actor that others stand on: its ctx ends only
// when all that were given to Add have ended.
func (h *Host) AddBase(name string, run func(ctx context.Context) error) {
	h.actors.addBase(name, run)
}

// AddBaseOnce is AddBase, unless there is one of that name: several parts of a
// service may need the same.
func (h *Host) AddBaseOnce(name string, run func(ctx context.Context) error) {
	if !h.actors.has(name) {
		h.AddBase(name, run)
	}
}

// Config is what Serve needs.
type Config struct {
	Service string // its name
	Flags   Flags
	Log     *slog.Logger
	Setup   func(ctx context.Context, h *Host) error
	// Options are added to those of the NATS connection: nats.InProcessServer
	// for an embedded server.
	Options []nats.Option
}

// ErrGrace is work that did not end in time after the service was told to stop.
var ErrGrace = errors.New("did not end in time")

// Serve runs one service until an actor returns or ctx ends. Metrics and
// health are there first and go last: between them it connects to NATS, sets
// the service up, runs its actors, and drains the connection after the last of
// them has ended.
//
//	http ─────────────────────────────────────────────┐
//	  └─ connect ─ setup ─┬─ actor … ─┬─ drain NATS ──┴─ stop
//	                      └─ watch ───┘
func Serve(ctx context.Context, c Config) error {
	h := &Host{
		Name:    c.Flags.name(c.Service),
		Metrics: newMetrics(c.Service),
		Health:  &Health{phase: errConnecting},
		Grace:   c.Flags.Grace,
	}
	h.Log = c.Log.With("name", h.Name)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	CollectLess(ctx)

	var g run.Group
	if c.Flags.HTTP != "" {
		m, err := newMonitor(c.Flags.HTTP, h.Metrics, h.Health, h.Log)
		if err != nil {
			return err
		}
		h.HTTP = "http://" + m.listener.Addr().String()
		h.Log.Info("metrics and health", "url", h.HTTP)
		g.Add(m.serve, m.stop)
	}
	g.Add(func() error { return h.run(ctx, cancel, c) }, func(error) { cancel() })
	return g.Run()
}

// run is the service between its first and its last answer over HTTP; stop ends ctx.
func (h *Host) run(ctx context.Context, stop context.CancelFunc, c Config) error {
	nc, err := Connect(ctx, c.Flags.NATS, h.Name, h.Log, c.Options...)
	if err != nil {
		return unlessStopped(ctx, err)
	}
	defer nc.Close()
	h.NATS = nc
	h.Health.enter(errStarting)
	h.Health.Check("service", func(context.Context) error { return working(ctx) })
	h.Health.Check("nats", func(context.Context) error { return connected(nc) })
	h.Metrics.MustRegister(connectionMetrics(nc)...)

	if err := c.Setup(ctx, h); err != nil {
		return unlessStopped(ctx, fmt.Errorf("setting up: %w", err))
	}
	h.Add("nats", func(ctx context.Context) error { return watch(ctx, nc) })
	h.Add("notice", func(ctx context.Context) error {
		<-ctx.Done()
		h.Log.Info("draining", "grace", h.Grace)
		return nil
	})
	h.Health.enter(nil)
	h.Log.Info("running", "version", ReadBuild().Version)

	err = h.actors.run(ctx, stop, h.Grace)
	return errors.Join(err, drain(nc))
}

// unlessStopped drops an error that only says that the service was told to
// stop while it started.
func unlessStopped(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}

func working(ctx context.Context) error {
	if ctx.Err() != nil {
		return errDraining
	}
	return nil
}

func connected(nc *nats.Conn) error {
	if s := nc.Status(); s != nats.CONNECTED {
		return fmt.Errorf("connection is %s", s)
	}
	return nil
}

// watch returns when the connection is closed for good.
func watch(ctx context.Context, nc *nats.Conn) error {
	closed := nc.StatusChanged(nats.CLOSED)
	defer nc.RemoveStatusListener(closed)
	if !nc.IsClosed() {
		select {
		case <-closed:
		case <-ctx.Done():
			return nil
		}
	}
	return fmt.Errorf("connection closed: %w", errors.Join(nats.ErrConnectionClosed, nc.LastError()))
}

// drain sends what is buffered, lets subscriptions take what they were sent,
// and closes the connection. One that is down has nobody to drain to.
func drain(nc *nats.Conn) error {
	if !nc.IsConnected() {
		return nil
	}
	closed := nc.StatusChanged(nats.CLOSED)
	defer nc.RemoveStatusListener(closed)
	if err := nc.Drain(); err != nil {
		return fmt.Errorf("draining NATS: %w", err)
	}
	select {
	case <-closed:
		return nil
	case <-time.After(drainTimeout + time.Second):
		return fmt.Errorf("draining NATS: %w", ErrGrace)
	}
}
