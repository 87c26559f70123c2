package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/services/signalbox/bench/machine"
)

// withHistory measures throughput and hand-off in a log that has a past against
// the same in an empty one.
func withHistory(ctx context.Context, b *bench) error {
	dir, err := b.history(ctx, long(b.History)...)
	if err != nil {
		return err
	}
	p := plan{server: separate, sync: b.Sync[0], workers: b.InFlight}
	empty, none, err := b.both(ctx, p)
	if err != nil {
		return fmt.Errorf("empty log: %w", err)
	}
	filled := p
	filled.store = dir
	full, gaps, err := b.both(ctx, filled)
	if err != nil {
		return fmt.Errorf("log of %d commits: %w", b.History, err)
	}
	again, more, err := b.both(ctx, p) // a machine that becomes slower meanwhile is not the log's fault
	if err != nil {
		return fmt.Errorf("empty log: %w", err)
	}
	none = append(none, more...)
	s := Setting{mode(p.sync), p.server, b.InFlight}
	rate := (empty.rate() + again.rate()) / 2
	b.add(sample{Scenario: "history", Name: "steps", Unit: "1/s", Setting: s, Value: full.rate(), Against: "empty log", Base: &rate, Others: full.others, Goal: atLeast(1 / 1.25)})
	cpu := (empty.each(empty.total) + again.each(again.total)) / 2
	b.add(sample{Scenario: "history", Name: "cpu", Unit: "µs/step", Setting: s, Value: full.each(full.total), Against: "empty log", Base: &cpu, Others: full.others})
	s.InFlight = 1
	b.handed("history", s, gaps, none, full.use, "empty log", atMost(1.25), atMost(1.25))
	disk, err := machine.Size(dir)
	b.add(sample{Scenario: "history", Name: fmt.Sprintf("disk, %d commits", b.History), Unit: "B/commit", Value: float64(disk) / float64(b.History)})
	return err
}

// both measures throughput, then hand-off, in one world.
func (b *bench) both(ctx context.Context, p plan) (f flow, gaps []time.Duration, err error) {
	w, err := b.build(ctx, p)
	if err != nil {
		return f, nil, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	if f, err = b.flow(ctx, w, p.workers); err != nil {
		return f, nil, err
	}
	gaps, _, err = b.watch(ctx, w)
	return f, gaps, err
}
