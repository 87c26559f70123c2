package process

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/service/access"
	"github.com/signalbox/signalbox/services/signalbox/bench/load"
)

// Agents runs agents that do nothing, and opens instances for them.
type Agents struct {
	host *host
	load *load.Load
}

// AgentsArgs are the arguments of Agents.Start.
type AgentsArgs struct {
	URL     string
	Roles   []string
	Workers int // of each role
	// Access is as in ServerArgs. All roles share the account of the first.
	Access access.Directory
}

// Start starts the agents.
func (a *Agents) Start(args AgentsArgs, _ *None) error {
	service.CollectLess(a.host.ctx) // as every service does
	a.host.access = args.Access
	agent := access.Party{Kind: access.Agent, Name: args.Roles[0]}
	working, err := service.Connect(a.host.ctx, a.host.linkAs(args.URL, agent), "load", quiet())
	if err != nil {
		return err
	}
	a.host.atEnd(func() error { working.Close(); return nil })
	gateway := access.Party{Kind: access.Gateway}
	opening, err := service.Connect(a.host.ctx, a.host.linkAs(args.URL, gateway), "bench", quiet())
	if err != nil {
		return err
	}
	a.host.atEnd(func() error { opening.Close(); return nil })
	js, err := access.JetStream(a.host.ctx, working)
	if err != nil {
		return err
	}
	a.load = load.New(load.Config{
		JetStream: js, Agent: client.New(working, "load"), Opener: client.New(opening, "bench"),
		Workers: args.Workers, Log: quiet(),
	})
	for _, role := range args.Roles {
		a.host.run(func(ctx context.Context) error { return a.load.Agents(ctx, role) })
	}
	return nil
}

// Run carries out an order.
func (a *Agents) Run(o load.Order, r *load.Result) (err error) {
	*r, err = a.load.Run(a.host.ctx, o)
	return err
}

// Open opens instances without waiting for their ends.
func (a *Agents) Open(o load.Order, _ *None) error { return a.load.Open(a.host.ctx, o) }

// Paused waits until n instances are held at a step.
func (a *Agents) Paused(n int, _ *None) error { return a.load.Paused(a.host.ctx, n) }

// Resume resumes a held instance and returns its hand-offs up to its end.
func (a *Agents) Resume(id string, gaps *[]time.Duration) (err error) {
	*gaps, err = a.load.Resume(a.host.ctx, id)
	return err
}
