package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/services/signalbox/bench/machine"
)

// longHistory measures throughput and hand-offs in a log with --history commits against
// those in an empty one. It measures the empty log before and after: a machine that
// becomes slower meanwhile would count against the long one.
func longHistory(ctx context.Context, b *bench) error {
	dir, err := b.history(ctx, long(b.History)...)
	if err != nil {
		return err
	}
	s := setup{server: separate, sync: b.Sync[0], workers: b.InFlight}
	filled := s
	filled.store = dir
	var rates [3]rate
	var gaps [3][]time.Duration
	for i, s := range []setup{s, filled, s} {
		err := b.withEnvironment(ctx, s, func(e *environment) (err error) {
			if rates[i], err = b.engineRate(ctx, e); err == nil {
				gaps[i], _, err = b.engineHandoffs(ctx, e)
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("measurement %d, in a copy of %q: %w", i+1, s.store, err)
		}
	}
	before, full, after := rates[0], rates[1], rates[2]
	at := Setting{mode(s.sync), s.server, b.InFlight}
	perSecond := (before.perSecond() + after.perSecond()) / 2
	cpu := (before.micros(before.total) + after.micros(after.total)) / 2
	b.add(sample{
		Scenario: "history", Name: "steps", Unit: "1/s", Setting: at, Value: full.perSecond(),
		Against: "empty log", Base: &perSecond, Others: full.others, Goal: atLeast(1 / 1.25),
	})
	b.add(sample{
		Scenario: "history", Name: "cpu", Unit: "µs/step", Setting: at, Value: full.micros(full.total),
		Against: "empty log", Base: &cpu, Others: full.others,
	})
	at.InFlight = 1
	b.addHandoffs("history", at, gaps[1], append(gaps[0], gaps[2]...), full.usage, "empty log", atMost(1.25), atMost(1.25))
	disk, err := machine.Size(dir)
	b.add(sample{
		Scenario: "history", Name: fmt.Sprintf("disk, %d commits", b.History), Unit: "B/commit",
		Value: float64(disk) / float64(b.History),
	})
	return err
}
