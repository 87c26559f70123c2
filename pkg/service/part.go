package service

import (
	"context"
	"errors"
)

// Part is some of a service that runs and ends as one, beside the rest, and may be
// begun anew.
type Part struct{ host *Host }

// Part sets one up on a host of its own, which shares all but the actors.
func (h *Host) Part(ctx context.Context, setup func(context.Context, *Host) error) (*Part, error) {
	p := &Part{&Host{Name: h.Name, HTTP: h.HTTP, Log: h.Log, NATS: h.NATS, Metrics: h.Metrics, Health: h.Health, Grace: h.Grace}}
	err := setup(ctx, p.host)
	if err != nil { // what has begun ends
		over, stop := context.WithCancel(ctx)
		stop()
		return nil, errors.Join(err, p.Run(over))
	}
	return p, nil
}

// Run runs the actors of the part, once, until one of them returns or ctx ends and
// all have, as Serve does those of a service.
func (p *Part) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	return p.host.actors.run(ctx, stop, p.host.Grace)
}
