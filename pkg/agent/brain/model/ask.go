package model

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/signalbox/signalbox/pkg/agent/brain"
)

// ask sends a request until it is answered, as patiently as it is configured. The cost of a
// broken answer counts, too.
func (s *step) ask(ctx context.Context, q request) (reply, error) {
	waits := backoff.NewExponentialBackOff()
	waits.InitialInterval, waits.MaxInterval, waits.Multiplier = time.Second, time.Minute, 2
	var waited time.Duration
	for {
		if d := s.endpoint.wait(s.cfg.Clock.Now()); d > 0 {
			if err := s.sleep(ctx, &waited, d, errors.New("it did not answer others")); err != nil {
				return reply{}, err
			}
			continue
		}
		r, err := s.once(ctx, q)
		if serr := s.spend(ctx, r.usage); err == nil {
			s.over = serr // what is paid for is used
		} else if serr != nil {
			return r, serr
		}
		if err == nil {
			s.endpoint.answered()
			return r, nil
		}
		f := s.cfg.faultOf(ctx, err)
		if !f.again {
			if f.large && s.window.shrink(q.messages) {
				s.note("%s: old output of tools was left out, trying once more", f.err)
				continue
			}
			return r, f.err
		}
		s.endpoint.failed(s.cfg.Clock.Now(), f.after)
		next := waits.NextBackOff()
		if f.after > 0 {
			next = f.after
		}
		if err := s.sleep(ctx, &waited, next, f.err); err != nil {
			return r, err
		}
	}
}

// once sends a request. It ends one that is silent for too long.
func (s *step) once(ctx context.Context, q request) (reply, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silent := time.AfterFunc(s.cfg.Idle, func() { cancel(fmt.Errorf("%w for %s", errSilent, s.cfg.Idle)) })
	defer silent.Stop()
	said := liner{tell: func(line string) { s.w.Progress("%s", line) }}
	defer said.flush()
	r, err := s.service.send(ctx, q, func(text string) {
		silent.Reset(s.cfg.Idle)
		said.add(text)
	})
	if err != nil && ctx.Err() != nil && errors.Is(context.Cause(ctx), errSilent) {
		err = context.Cause(ctx)
	}
	return r, err
}

// sleep waits before the next try, or says that patience is at its end.
func (s *step) sleep(ctx context.Context, waited *time.Duration, d time.Duration, why error) error {
	if *waited+d > s.cfg.Patience {
		return fmt.Errorf("%w: %s at %s: %w; it is to be asked again at %s", brain.ErrInfrastructure, s.Brain, s.endpoint.url, why,
			s.cfg.Clock.Now().Add(d).UTC().Format("15:04:05 MST"))
	}
	*waited += d
	s.note("%s does not answer: %v; asked again in %s", s.endpoint.url, why, d.Round(time.Millisecond))
	return s.cfg.Clock.Pause(ctx, d)
}
