package service

import (
	"context"
	"errors"
)

// Part is a group of actors that is started and stopped apart from the rest of the
// service, as during one term of an orchestrator.
type Part struct{ host *Host }

// Part sets up a part on a host of its own, which shares all but the actors.
func (h *Host) Part(ctx context.Context, setup func(context.Context, *Host) error) (*Part, error) {
	p := &Part{&Host{Name: h.Name, HTTP: h.HTTP, Log: h.Log, NATS: h.NATS, Metrics: h.Metrics, Refused: h.Refused, Health: h.Health, Grace: h.Grace}}
	err := setup(ctx, p.host)
	if err != nil { // end the actors added so far
		over, stop := context.WithCancel(ctx)
		stop()
		return nil, errors.Join(err, p.Run(over))
	}
	return p, nil
}

// Run runs the actors of the part as Serve does those of a service, and returns when
// all have ended. It may be called once.
func (p *Part) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	return p.host.actors.run(ctx, stop, p.host.Grace)
}
