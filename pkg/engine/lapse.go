package engine

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/signalbox/signalbox/pkg/instance"
)

const (
	// look is how often it is looked for work that was lost with its agent.
	look = 100 * time.Millisecond
	// again is how often agents may be sent for the same work.
	again = time.Second
)

// Reclaim gives work to its queue whose agent, that was given it directly, has let
// its lease run out or has given it back, until ctx ends. failed is told of what
// could not be given; it is tried again.
func (e *Engine) Reclaim(ctx context.Context, failed func(error)) {
	tick := time.NewTicker(look)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if n%int(again/look) == 0 {
			e.view.lines.forget()
		}
		for _, n := range e.view.lapsed(e.Now()) {
			if err := e.lapse(ctx, n.in); err != nil && ctx.Err() == nil {
				failed(err)
			}
		}
	}
}

// lapse is asked for by every engine that sees it. The id lets one be carried out.
func (e *Engine) lapse(ctx context.Context, in instance.Instance) error {
	ctx, cancel := context.WithTimeout(ctx, again)
	defer cancel()
	_, err := e.Handle(ctx, instance.Command{
		ID: "lapse-" + strconv.FormatUint(in.Work, 10), Instance: in.ID, Actor: "orchestrator", Do: instance.Lapse{Work: in.Work},
	}, "")
	if errors.As(err, new(*instance.Refusal)) { // it went on meanwhile
		return nil
	}
	return err
}
