package bench

import (
	"cmp"
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	orchestrator "github.com/signalbox/signalbox/services/orchestrator/app"
	"github.com/signalbox/signalbox/services/signalbox/bench/load"
	"github.com/signalbox/signalbox/services/signalbox/bench/process"
)

// The two ways the server runs.
const (
	separate = "separate" // a process of its own
	embedded = "embedded" // in the orchestrator's process
)

// plan says what a world is like.
type plan struct {
	server  string
	sync    time.Duration
	store   string // directory of a store to start with; empty for none
	bare    bool   // no orchestrator yet
	workers int    // of the agents; 0 for no agents
	ackWait time.Duration
	// lifecycle of what flows; empty for bench.
	lifecycle string
}

// flows is the lifecycle of what flows.
func (p plan) flows() string { return cmp.Or(p.lifecycle, "bench") }

// roles are those that work in it.
func (p plan) roles() []string {
	if p.lifecycle == "relay" {
		return []string{load.Role, load.Other}
	}
	return []string{load.Role}
}

// world is a running system, a process a part.
type world struct {
	plan
	dir           string // of the server's store
	url           string
	server        *process.Child // nil if it is embedded
	orchestrators []*process.Child
	metrics       []string // of the orchestrators: URLs
	agents        *process.Child
	settings      orchestrator.Settings
}

// build starts a world.
func (b *bench) build(ctx context.Context, p plan) (w *world, err error) {
	w = &world{plan: p, settings: b.settings}
	w.settings.Sync = p.sync
	if p.ackWait != 0 {
		w.settings.AckWait = p.ackWait
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	if w.dir, err = b.storeDir(p.store); err != nil {
		return w, err
	}
	first := "nats-server"
	if p.server == embedded {
		first = "nats-server+orchestrator"
	}
	c, err := process.Start(first)
	if err != nil {
		return w, err
	}
	w.server = c
	if err := c.Call(ctx, "Server.Start", process.ServerArgs{Dir: w.dir, Sync: p.sync}, &w.url); err != nil {
		return w, err
	}
	if p.server == embedded {
		w.server, w.orchestrators = nil, []*process.Child{c}
		err = w.begin(ctx, c, "")
	} else if !p.bare {
		err = w.replica(ctx)
	}
	if err == nil && p.workers > 0 {
		w.agents, err = w.staff(ctx, p.workers, false)
	}
	return w, err
}

// replica adds an orchestrator in a process of its own.
func (w *world) replica(ctx context.Context) error {
	c, err := process.Start("orchestrator")
	if err != nil {
		return err
	}
	w.orchestrators = append(w.orchestrators, c)
	return w.begin(ctx, c, w.url)
}

func (w *world) begin(ctx context.Context, c *process.Child, url string) error {
	var metrics string
	err := c.Call(ctx, "Orchestrator.Start", process.OrchestratorArgs{URL: url, Settings: w.settings}, &metrics)
	w.metrics = append(w.metrics, metrics)
	return err
}

// retire ends all orchestrators; those that have a process of their own.
func (w *world) retire() error {
	var errs error
	for _, c := range w.orchestrators {
		errs = errors.Join(errs, c.Close())
	}
	w.orchestrators, w.metrics = nil, nil
	return errs
}

// staff starts agents.
func (w *world) staff(ctx context.Context, workers int, hold bool) (*process.Child, error) {
	c, err := process.Start("agents")
	if err != nil {
		return nil, err
	}
	if err := c.Call(ctx, "Agents.Start", process.AgentsArgs{URL: w.url, Roles: w.roles(), Workers: workers, Hold: hold}, &process.None{}); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// run has the agents do what is ordered.
func (w *world) run(ctx context.Context, o load.Order) (load.Result, error) {
	var r load.Result
	err := w.agents.Call(ctx, "Agents.Run", o, &r)
	return r, err
}

// parts are all processes.
func (w *world) parts() []*process.Child {
	var all []*process.Child
	for _, c := range append([]*process.Child{w.server, w.agents}, w.orchestrators...) {
		if c != nil {
			all = append(all, c)
		}
	}
	return all
}

// close ends all, those that stand on others first, and takes the store away.
func (w *world) close() error {
	var errs error
	for _, c := range append(append([]*process.Child{w.agents}, w.orchestrators...), w.server) {
		if c != nil {
			errs = errors.Join(errs, c.Close())
		}
	}
	return errors.Join(errs, os.RemoveAll(w.dir))
}

// storeDir makes a directory for a server, a copy of from if that is not empty.
func (b *bench) storeDir(from string) (string, error) {
	dir, err := os.MkdirTemp(b.dir, "store-")
	if err != nil || from == "" {
		return dir, err
	}
	err = os.CopyFS(dir, os.DirFS(from))
	syscall.Sync() // else that is written to disk while something is measured
	return dir, err
}
