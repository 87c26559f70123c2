package engine

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/dispatch"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

const (
	// reclaimEvery is how often Reclaim looks for work that was lost with its agent.
	reclaimEvery = 100 * time.Millisecond
	// redirectEvery is how often agents may be redirected for the same work.
	redirectEvery = time.Second
)

// Reclaim dispatches work to its queue if an agent got it directly, and let the lease run
// out or gave it back. It dispatches work that waited for a place, or a budget, once
// there is one. It returns when ctx ends. It calls onError with each failure, and tries again.
func (e *Engine) Reclaim(ctx context.Context, onError func(error)) {
	tick := time.NewTicker(reclaimEvery)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if e.away() {
			continue
		}
		if err := e.attend(ctx); err != nil {
			if ctx.Err() == nil {
				onError(err)
			}
			continue
		}
		ready := e.dispatcher.Admit(e.Now())
		if n%int(redirectEvery/reclaimEvery) == 0 {
			e.dispatcher.ResetRedirects()
			ready = append(ready, e.dispatcher.Fund(e.funded)...)
		}
		for _, cmd := range ready {
			if err := e.admit(ctx, cmd); err != nil && ctx.Err() == nil {
				onError(err)
			}
		}
		for _, l := range e.dispatcher.Lapsed(e.Now()) {
			if err := e.reclaim(ctx, l); err != nil && ctx.Err() == nil {
				onError(err)
			}
		}
	}
}

// admit dispatches work for which there is a place.
func (e *Engine) admit(ctx context.Context, cmd instance.Command) error {
	ctx, cancel := context.WithTimeout(ctx, redirectEvery)
	defer cancel()
	cmd.ID = "admit-" + strconv.FormatUint(cmd.Do.(instance.Admit).Work, 10)
	_, err := e.Handle(ctx, cmd, "")
	if errors.As(err, new(*instance.Refusal)) { // it went on meanwhile
		return nil
	}
	return err
}

// reclaim dispatches work to its queue. Every engine that sees the lapse does so; the
// command's id lets one be carried out.
func (e *Engine) reclaim(ctx context.Context, l dispatch.Lapse) error {
	ctx, cancel := context.WithTimeout(ctx, redirectEvery)
	defer cancel()
	_, err := e.Handle(ctx, instance.Command{
		ID: "lapse-" + strconv.FormatUint(l.Work, 10), Instance: l.Instance, Actor: "orchestrator", Do: instance.Lapse{Work: l.Work},
	}, "")
	if errors.As(err, new(*instance.Refusal)) { // it went on meanwhile
		return nil
	}
	return err
}
