package bench

import (
	"cmp"
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/signalbox/signalbox/pkg/service/access"
	orchestrator "github.com/signalbox/signalbox/services/orchestrator/app"
	"github.com/signalbox/signalbox/services/signalbox/bench/load"
	"github.com/signalbox/signalbox/services/signalbox/bench/process"
)

// The two values of --nats-server.
const (
	separate = "separate" // nats-server is a process of its own
	embedded = "embedded" // it is in the orchestrator's process
)

// setup has the parts of an environment.
type setup struct {
	server    string
	sync      time.Duration
	store     string // directory of a store to copy; empty: an empty store
	bare      bool   // without an orchestrator at first
	workers   int    // of the agents; 0: without agents
	ackWait   time.Duration
	lifecycle string // of the load; empty: bench
	accounts  bool   // each process connects with a key, to an account of its own
}

// workflow returns the lifecycle of the load.
func (s setup) workflow() string { return cmp.Or(s.lifecycle, "bench") }

// roles returns the roles of the lifecycle.
func (s setup) roles() []string {
	if s.lifecycle == "relay" {
		return []string{load.Role, load.Other}
	}
	return []string{load.Role}
}

// environment is a running system. Each part is a process of its own.
type environment struct {
	setup
	dir           string // of the server's store
	url           string
	server        *process.Child // nil if it is embedded
	orchestrators []*process.Child
	metrics       []string // URLs of the orchestrators' metrics
	agents        *process.Child
	settings      orchestrator.Settings
	access        access.Directory // of the keys; empty: without accounts
}

// withEnvironment calls f with a new environment, which ends when f returns.
func (b *bench) withEnvironment(ctx context.Context, s setup, f func(e *environment) error) (err error) {
	e := &environment{setup: s, settings: b.settings}
	e.settings.Sync = s.sync
	if s.ackWait != 0 {
		e.settings.AckWait = s.ackWait
	}
	if e.dir, err = b.storeDir(s.store); err != nil {
		return err
	}
	if s.accounts {
		dir, err := os.MkdirTemp(b.dir, "access-")
		if err != nil {
			return err
		}
		e.access = access.Directory(dir)
		if _, err := e.access.Init(access.Services(s.roles()...)...); err != nil {
			return err
		}
	}
	defer func() { err = errors.Join(err, e.close()) }()
	if err := e.start(ctx); err != nil {
		return err
	}
	return f(e)
}

// start starts what the setup asks for.
func (e *environment) start(ctx context.Context) (err error) {
	name := "nats-server"
	if e.setup.server == embedded {
		name = "nats-server+orchestrator"
	}
	c, err := process.Start(name)
	if err != nil {
		return err
	}
	e.server = c
	if err := c.Call(ctx, "Server.Start", process.ServerArgs{Dir: e.dir, Sync: e.sync, Access: e.access}, &e.url); err != nil {
		return err
	}
	if e.setup.server == embedded {
		e.server, e.orchestrators = nil, []*process.Child{c}
		err = e.startOrchestrator(ctx, c, "")
	} else if !e.bare {
		err = e.addOrchestrator(ctx)
	}
	if err == nil && e.workers > 0 {
		e.agents, err = e.startAgents(ctx, e.workers)
	}
	return err
}

// addOrchestrator starts one more orchestrator in a process of its own.
func (e *environment) addOrchestrator(ctx context.Context) error {
	c, err := process.Start("orchestrator")
	if err != nil {
		return err
	}
	e.orchestrators = append(e.orchestrators, c)
	return e.startOrchestrator(ctx, c, e.url)
}

// startOrchestrator starts an orchestrator in c. An empty url is the server in c.
func (e *environment) startOrchestrator(ctx context.Context, c *process.Child, url string) error {
	var metrics string
	err := c.Call(ctx, "Orchestrator.Start", process.OrchestratorArgs{URL: url, Settings: e.settings, Access: e.access}, &metrics)
	e.metrics = append(e.metrics, metrics)
	return err
}

// stopOrchestrators stops all orchestrators. They must have processes of their own.
func (e *environment) stopOrchestrators() error {
	var errs error
	for _, c := range e.orchestrators {
		errs = errors.Join(errs, c.Close())
	}
	e.orchestrators, e.metrics = nil, nil
	return errs
}

// startAgents starts a process of agents.
func (e *environment) startAgents(ctx context.Context, workers int) (*process.Child, error) {
	c, err := process.Start("agents")
	if err != nil {
		return nil, err
	}
	args := process.AgentsArgs{URL: e.url, Roles: e.roles(), Workers: workers, Access: e.access}
	if err := c.Call(ctx, "Agents.Start", args, &process.None{}); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// run has the agents carry out an order.
func (e *environment) run(ctx context.Context, o load.Order) (load.Result, error) {
	var r load.Result
	err := e.agents.Call(ctx, "Agents.Run", o, &r)
	return r, err
}

// processes returns all running processes.
func (e *environment) processes() []*process.Child {
	var all []*process.Child
	for _, c := range append([]*process.Child{e.server, e.agents}, e.orchestrators...) {
		if c != nil {
			all = append(all, c)
		}
	}
	return all
}

// close stops the agents, the orchestrators and the server, and removes the store.
func (e *environment) close() error {
	var errs error
	for _, c := range append(append([]*process.Child{e.agents}, e.orchestrators...), e.server) {
		if c != nil {
			errs = errors.Join(errs, c.Close())
		}
	}
	return errors.Join(errs, os.RemoveAll(e.dir))
}

// storeDir creates a directory for a server's store. It is a copy of from, if that is
// not empty.
func (b *bench) storeDir(from string) (string, error) {
	dir, err := os.MkdirTemp(b.dir, "store-")
	if err != nil || from == "" {
		return dir, err
	}
	err = os.CopyFS(dir, os.DirFS(from))
	syscall.Sync() // otherwise the copy is written to disk during the measurement
	return dir, err
}

// withProcess calls f with a new process, which ends when f returns.
func withProcess(name string, f func(c *process.Child) error) (err error) {
	c, err := process.Start(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	return f(c)
}
