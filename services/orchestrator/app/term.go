package app

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/orchestrator/standby"
)

// terms runs the orchestrator's actors while no other orchestrator is active, and stands by else.
type terms struct {
	host      *service.Host
	elector   *standby.Elector
	setup     func(context.Context, *service.Host) error // adds the actors of one term
	setActive func(active bool)                          // for the metric
}

// activeTerm is one term with its actors.
type activeTerm struct {
	term *standby.Term
	part *service.Part
}

// add sets up the first term, if no other orchestrator is active, and adds the actor that runs it and
// those after it.
func (s terms) add(ctx context.Context) error {
	var first *activeTerm
	if !s.elector.HasActive(ctx) {
		var err error
		if first, err = s.activate(ctx); err != nil {
			return err
		}
	}
	s.host.AddBase("standby", func(ctx context.Context) error { return s.run(ctx, first) })
	return nil
}

func (s terms) activate(ctx context.Context) (*activeTerm, error) {
	term, err := s.elector.Activate()
	if err != nil {
		return nil, err
	}
	part, err := s.host.Part(ctx, s.setup)
	if err != nil {
		term.End()
		return nil, err
	}
	return &activeTerm{term, part}, nil
}

// run runs one term after the other until ctx ends or one of them fails. first may be nil.
func (s terms) run(ctx context.Context, first *activeTerm) error {
	for active := first; ; active = nil {
		if active == nil {
			var err error
			if active, err = s.await(ctx); active == nil {
				return err
			}
		}
		s.host.Log.Info("active")
		s.setActive(true)
		err := active.run(ctx, s.host.Log)
		s.setActive(false)
		if err != nil || ctx.Err() != nil {
			return err
		}
	}
}

// await stands by until no other orchestrator is active, and sets up the next term. It returns nil when
// ctx ends, and fails if the log is damaged.
func (s terms) await(ctx context.Context) (*activeTerm, error) {
	for {
		s.host.Log.Info("standing by: another orchestrator is active")
		if s.elector.WaitInactive(ctx) != nil {
			return nil, nil
		}
		active, err := s.activate(ctx)
		if err == nil || ctx.Err() != nil || errors.Is(err, eventstore.ErrCorrupt) {
			return active, err
		}
		// The NATS server may be down, which would be why no orchestrator is active.
		s.host.Log.Warn("cannot become active; trying again", "error", err)
	}
}

// run runs the actors of the term until ctx ends, one of them fails, or an orchestrator is found that
// has been active for longer.
func (a *activeTerm) run(ctx context.Context, log *slog.Logger) error {
	ctx, stop := context.WithCancel(ctx)
	context.AfterFunc(ctx, a.term.End) // another term may begin while these actors stop
	var watch sync.WaitGroup
	defer watch.Wait()
	defer stop()
	watch.Go(func() {
		if a.term.Superseded(ctx) == nil {
			log.Info("superseded: another orchestrator has been active for longer")
			stop()
		}
	})
	return a.part.Run(ctx)
}
