package bench

import (
	"context"
	"errors"
	"time"

	"github.com/signalbox/signalbox/services/signalbox/bench/baseline"
	"github.com/signalbox/signalbox/services/signalbox/bench/load"
)

func handoff(ctx context.Context, b *bench) error {
	for _, sync := range b.Sync {
		base, _, _, err := b.raw(ctx, sync, 10, b.watched(sync))
		if err != nil {
			return err
		}
		for _, server := range b.Server {
			gaps, u, err := b.handoffs(ctx, plan{server: server, sync: sync, workers: 1})
			if err != nil {
				return err
			}
			b.handed("handoff", Setting{mode(sync), server, 1}, gaps, base.Gaps, u, "floor", atMost(2), atMost(2.5))
		}
	}
	return nil
}

// watched is the floor's order for hand-offs.
func (b *bench) watched(sync time.Duration) baseline.Order {
	return baseline.Order{Batch: sync == 0, Prefix: "alone", Instances: b.alone(), Steps: steps, InFlight: 1, Watch: true}
}

// alone is how many instances are watched one after the other.
func (b *bench) alone() int { return min(b.Instances, 400) }

// handed adds the figures.
func (b *bench) handed(name string, s Setting, gaps, base []time.Duration, u use, against string, p50, p99 *Goal) {
	for _, q := range []struct {
		name string
		at   float64
		goal *Goal
	}{{"start p50", 0.50, p50}, {"start p99", 0.99, p99}} {
		of := ms(at(base, q.at))
		b.add(sample{Scenario: name, Name: q.name, Unit: "ms", Setting: s, Value: ms(at(gaps, q.at)), Against: against, Base: &of, Others: u.others, Goal: q.goal})
	}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func (b *bench) handoffs(ctx context.Context, p plan) (gaps []time.Duration, u use, err error) {
	w, err := b.build(ctx, p)
	if err != nil {
		return nil, u, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	return b.watch(ctx, w)
}

// watch measures hand-offs in a world.
func (b *bench) watch(ctx context.Context, w *world) (gaps []time.Duration, u use, err error) {
	order := load.Order{Workflow: w.flows(), Prefix: "before", Instances: min(b.Instances, 10), Steps: steps, InFlight: 1}
	if _, err := w.run(ctx, order); err != nil {
		return nil, u, err
	}
	order.Prefix, order.Instances, order.Watch = "alone", b.alone(), true
	u, err = b.during(ctx, w.parts, func() error {
		r, err := w.run(ctx, order)
		gaps = r.Gaps
		return err
	})
	return gaps, u, err
}
