package bench

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/services/signalbox/bench/baseline"
	"github.com/signalbox/signalbox/services/signalbox/bench/load"
)

func handoff(ctx context.Context, b *bench) error {
	for _, sync := range b.Sync {
		if err := b.runHandoffs(ctx, "handoff", setup{sync: sync, workers: 1}, b.Server); err != nil {
			return err
		}
	}
	return nil
}

// handoffGoal is the goal of the median hand-off against the baseline.
func handoffGoal(sync time.Duration) *Goal {
	if sync == 0 {
		return atMost(1.5)
	}
	return atMost(2.5)
}

// runHandoffs measures the hand-offs of one instance at a time: first of the baseline,
// then of the engine with each kind of server.
func (b *bench) runHandoffs(ctx context.Context, name string, s setup, servers []string) error {
	base, _, _, err := b.runBaseline(ctx, s.sync, 10, baseline.Order{
		Batch: s.sync == 0, Prefix: "alone", Instances: b.watched(), Steps: steps, InFlight: 1, Watch: true,
	})
	if err != nil {
		return err
	}
	for _, s.server = range servers {
		err := b.withEnvironment(ctx, s, func(e *environment) error {
			gaps, u, err := b.engineHandoffs(ctx, e)
			if err == nil {
				b.addHandoffs(name, Setting{mode(s.sync), s.server, 1}, gaps, base.Gaps, u, "baseline", handoffGoal(s.sync), atMost(2.5))
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// watched is the number of instances whose hand-offs are measured.
func (b *bench) watched() int { return min(b.Instances, 400) }

// addHandoffs adds the figures of hand-offs.
func (b *bench) addHandoffs(name string, s Setting, gaps, base []time.Duration, u usage, against string, p50, p99 *Goal) {
	for _, q := range []struct {
		name string
		at   float64
		goal *Goal
	}{{"start p50", 0.50, p50}, {"start p99", 0.99, p99}} {
		of := ms(quantile(base, q.at))
		b.add(sample{
			Scenario: name, Name: q.name, Unit: "ms", Setting: s, Value: ms(quantile(gaps, q.at)),
			Against: against, Base: &of, Others: u.others, Goal: q.goal,
		})
	}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// engineHandoffs returns the hand-offs of instances that run one after the other.
func (b *bench) engineHandoffs(ctx context.Context, e *environment) (gaps []time.Duration, u usage, err error) {
	order := load.Order{Workflow: e.workflow(), Prefix: "before", Instances: min(b.Instances, 10), Steps: steps, InFlight: 1}
	if _, err := e.run(ctx, order); err != nil {
		return nil, u, err
	}
	order.Prefix, order.Instances, order.Watch = "alone", b.watched(), true
	u, err = b.measure(ctx, e.processes, func() error {
		r, err := e.run(ctx, order)
		gaps = r.Gaps
		return err
	})
	return gaps, u, err
}
