package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/oklog/run"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox/signalbox/pkg/service/httpserver"
)

// Host has the parts that a running service uses.
type Host struct {
	Name    string // of the process, unique in its service
	HTTP    string // where metrics and health are served, "" for nowhere
	Log     *slog.Logger
	NATS    *nats.Conn
	Metrics *prometheus.Registry
	Refused *Refused // counts for Metrics
	Health  *Health
	Grace   time.Duration // how long an actor may take to end

	until  <-chan struct{} // actors begin when it is closed; nil: at once
	actors actors
	origin *Host        // of As: has the actors of both
	beside []*nats.Conn // connections of As
}

// Add adds an actor. The first actor to return ends the service. When ctx ends, run
// must take no new work, end its work within Grace, and return.
func (h *Host) Add(name string, run func(ctx context.Context) error) {
	if until := h.until; until != nil {
		begin := run
		run = func(ctx context.Context) error {
			select {
			case <-until:
				return begin(ctx)
			case <-ctx.Done():
				return nil
			}
		}
	}
	h.first().actors.add(name, run)
}

// Hold has the actors that are added from now on begin when until is closed.
func (h *Host) Hold(until <-chan struct{}) { h.until = until }

// AddBase adds an actor that others depend on. Its ctx ends after all actors of Add
// have ended.
func (h *Host) AddBase(name string, run func(ctx context.Context) error) {
	h.first().actors.addBase(name, run)
}

// AddBaseOnce is AddBase, unless there is an actor of that name: several roles in one
// process need the same one.
func (h *Host) AddBaseOnce(name string, run func(ctx context.Context) error) {
	if !h.first().actors.has(name) {
		h.AddBase(name, run)
	}
}

// As returns the host with a connection of its own, which has the options: one process
// then is several parties to NATS. Serve drains it with the host's. Its actors are the
// host's. It may not be called on the host of a Part.
func (h *Host) As(ctx context.Context, options ...nats.Option) (*Host, error) {
	nc, err := Connect(ctx, NATS{}, h.Name, h.Log, options...)
	if err != nil {
		return nil, err
	}
	first := h.first()
	first.beside = append(first.beside, nc)
	h.Add("nats", func(ctx context.Context) error { return watch(ctx, nc) })
	return &Host{Name: h.Name, HTTP: h.HTTP, Log: h.Log, NATS: nc, Metrics: h.Metrics, Refused: h.Refused, Health: h.Health, Grace: h.Grace, origin: first}, nil
}

// first returns the host that As was called on first.
func (h *Host) first() *Host {
	if h.origin != nil {
		return h.origin
	}
	return h
}

// Config configures Serve.
type Config struct {
	Service string // its name
	Flags   Flags
	Log     *slog.Logger
	Setup   func(ctx context.Context, h *Host) error
	// Refused counts what was refused before Serve, too. nil: Serve makes one.
	Refused *Refused
	// Alone is set for a service that does not connect to NATS: the Host has no connection.
	Alone bool
	// Options are added to those of the NATS connection: nats.InProcessServer
	// for an embedded server.
	Options []nats.Option
}

// ErrGrace reports actors that did not end within Grace after the stop.
var ErrGrace = errors.New("did not end in time")

// Serve runs one service until an actor returns or ctx ends. It serves metrics and
// health, connects to NATS, calls Setup and runs the actors. It drains the
// connection after the last actor has ended.
//
//	http ─────────────────────────────────────────────┐
//	  └─ connect ─ setup ─┬─ actor … ─┬─ drain NATS ──┴─ stop
//	                      └─ watch ───┘
func Serve(ctx context.Context, c Config) error {
	h := &Host{
		Name:    c.Flags.name(c.Service),
		Metrics: newMetrics(c.Service),
		Refused: cmp.Or(c.Refused, NewRefused()),
		Health:  &Health{phase: errConnecting},
		Grace:   c.Flags.Grace,
	}
	h.Log = c.Log.With("name", h.Name)
	h.Metrics.MustRegister(h.Refused.count)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	CollectLess(ctx)

	var g run.Group
	if c.Flags.HTTP != "" {
		m, err := newMonitor(c.Flags, h.Metrics, h.Health, httpserver.NewRefusals(h.Log, h.Refused.At("http")))
		if err != nil {
			return err
		}
		h.HTTP = m.url(c.Flags)
		h.Log.Info("metrics and health", "url", h.HTTP)
		g.Add(m.serve, m.stop)
	}
	g.Add(func() error { return h.run(ctx, cancel, c) }, func(error) { cancel() })
	return g.Run()
}

// run runs the service while HTTP is served. stop ends ctx.
func (h *Host) run(ctx context.Context, stop context.CancelFunc, c Config) error {
	h.Health.Check("service", func(context.Context) error { return working(ctx) })
	if !c.Alone {
		nc, err := Connect(ctx, c.Flags.NATS, h.Name, h.Log, c.Options...)
		if err != nil {
			return unlessStopped(ctx, err)
		}
		h.NATS = nc
		h.Health.Check(natsCondition, func(context.Context) error { return connected(nc) })
		h.Metrics.MustRegister(connectionMetrics(nc)...)
	}
	defer func() {
		for _, nc := range h.connections() {
			nc.Close()
		}
	}()
	h.Health.enter(errStarting)
	if err := c.Setup(ctx, h); err != nil {
		return unlessStopped(ctx, fmt.Errorf("setting up: %w", err))
	}
	if h.NATS != nil {
		h.Add("nats", func(ctx context.Context) error { return watch(ctx, h.NATS) })
	}
	h.Add("notice", func(ctx context.Context) error {
		<-ctx.Done()
		h.Log.Info("draining", "grace", h.Grace)
		return nil
	})
	h.Health.enter(nil)
	h.Log.Info("running", "version", ReadBuild().Version)

	err := h.actors.run(ctx, stop, h.Grace)
	return errors.Join(err, drainAll(h.connections()))
}

// connections returns the connections to NATS, the host's own last.
func (h *Host) connections() []*nats.Conn {
	if h.NATS == nil {
		return nil
	}
	return append(slices.Clone(h.beside), h.NATS)
}

// unlessStopped drops the error of a start that the end of ctx interrupted.
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

// watch returns when the connection is closed.
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

// drainAll drains connections at the same time: each one takes a tenth of a second at least.
func drainAll(all []*nats.Conn) error {
	var g sync.WaitGroup
	errs := make([]error, len(all))
	for i, nc := range all {
		g.Go(func() { errs[i] = drain(nc) })
	}
	g.Wait()
	return errors.Join(errs...)
}

// drain sends the buffered messages, lets subscriptions process theirs, and closes
// the connection. A connection that is down is only closed.
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
