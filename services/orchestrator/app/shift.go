package app

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"github.com/signalbox/signalbox/pkg/eventstore"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/orchestrator/duty"
)

// shifts has what serve sets up run while no other orchestrator is on duty.
type shifts struct {
	host  *service.Host
	post  *duty.Post
	serve func(context.Context, *service.Host) error
	duty  func(on bool)
}

// shift is one time on duty.
type shift struct {
	turn *duty.Turn
	part *service.Part
}

// add begins the first shift, if nobody is on duty, and adds all others.
func (s shifts) add(ctx context.Context) error {
	var first *shift
	if !s.post.Taken(ctx) {
		var err error
		if first, err = s.begin(ctx); err != nil {
			return err
		}
	}
	s.host.AddBase("duty", func(ctx context.Context) error { return s.run(ctx, first) })
	return nil
}

func (s shifts) begin(ctx context.Context) (*shift, error) {
	turn, err := s.post.Take()
	if err != nil {
		return nil, err
	}
	part, err := s.host.Part(ctx, s.serve)
	if err != nil {
		turn.End()
		return nil, err
	}
	return &shift{turn, part}, nil
}

// run does one shift after the other until ctx ends.
func (s shifts) run(ctx context.Context, now *shift) error {
	for {
		if now == nil {
			s.host.Log.Info("standing by: another orchestrator is on duty")
			if s.post.Await(ctx) != nil {
				return nil
			}
			var err error
			if now, err = s.begin(ctx); err != nil {
				if ctx.Err() != nil || errors.Is(err, eventstore.ErrCorrupt) {
					return err
				}
				// The NATS server may be away: that may be why nobody is on duty.
				s.host.Log.Warn("cannot go on duty; trying again", "error", err)
				continue
			}
		}
		s.host.Log.Info("on duty")
		s.duty(true)
		err := now.run(ctx, s.host.Log)
		s.duty(false)
		if now = nil; err != nil || ctx.Err() != nil {
			return err
		}
	}
}

// run ends with ctx, or when one is found who has been on duty for longer.
func (s *shift) run(ctx context.Context, log *slog.Logger) error {
	working, stop := context.WithCancel(ctx)
	context.AfterFunc(working, s.turn.End) // another may begin while this one ends
	var watch sync.WaitGroup
	defer watch.Wait()
	defer stop()
	watch.Go(func() {
		if s.turn.Relieved(working) == nil {
			log.Info("relieved: another orchestrator has been on duty for longer")
			stop()
		}
	})
	return s.part.Run(working)
}
