package cli

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/pkg/base/pacing"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

type replayingCommand struct {
	readingOne
	All   bool    `name:"all" short:"a" env:"-" help:"Also the events that only say how work is given out: dispatched, claimed, reported, spent."`
	Speed float64 `name:"speed" env:"-" default:"60" placeholder:"N" help:"How many times faster than it was; 0: at once."`
}

// Run prints the events of an instance with the pauses that were between them, scaled. The pauses are
// outside the call, so --timeout does not end them.
func (c replayingCommand) Run(ctx context.Context, env *term.Env) error {
	if c.Speed < 0 {
		return service.Usagef("--speed %g: want 60 for a minute a second, or 0 for no pauses", c.Speed)
	}
	var events []view.Event
	err := c.readOne(ctx, env, &c.ID, func(ctx context.Context, s reader) error {
		records, err := s.History(ctx, c.ID, 0)
		events = view.History(c.ID, records)
		return err
	})
	if err != nil {
		return err
	}
	last := time.Time{}
	return view.Replay(env, events, c.All, func(e view.Event) error {
		since := e.Time.Sub(last)
		if last.IsZero() || c.Speed == 0 {
			since = 0
		}
		last = e.Time
		return pacing.Pause(ctx, time.Duration(float64(since)/max(c.Speed, 1e-9)))
	})
}
