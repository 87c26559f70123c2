package bench

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// replicas measures throughput with several orchestrators, and how often they got
// in each other's way.
func replicas(ctx context.Context, b *bench) error {
	for _, sync := range b.Sync {
		if err := b.replicas(ctx, sync); err != nil {
			return fmt.Errorf("%s mode: %w", mode(sync), err)
		}
	}
	return nil
}

// replicas measures one orchestrator first and last: a machine that becomes slower
// meanwhile, as virtual ones do, is not their fault.
func (b *bench) replicas(ctx context.Context, sync time.Duration) error {
	s := Setting{mode(sync), separate, b.InFlight}
	var rates []float64
	var more []sample
	for _, n := range []int{1, 2, 4, 1} {
		got, conflicts, err := b.crew(ctx, sync, n)
		if err != nil {
			return fmt.Errorf("%d orchestrators: %w", n, err)
		}
		if rates = append(rates, got.rate()); len(rates) > 3 {
			break
		}
		what := ", 1 orchestrator"
		if n > 1 {
			what = fmt.Sprintf(", %d orchestrators", n)
		}
		add := sample{Scenario: "replicas", Name: "steps" + what, Unit: "1/s", Setting: s, Value: got.rate(), Others: got.others}
		if n > 1 {
			add.Against, add.Goal = "one", atLeast(0.95) // it is as many, but for what a machine varies by
		}
		more = append(more, add,
			sample{Scenario: "replicas", Name: "cpu" + what, Unit: "µs/step", Setting: s, Value: got.each(got.total), Others: got.others},
			sample{Scenario: "replicas", Name: "log" + what, Unit: "B/step", Setting: s, Value: got.bytes, Others: got.others},
			sample{Scenario: "replicas", Name: "conflicts" + what, Unit: "1/step", Setting: s, Value: conflicts / float64(got.steps+b.warm(b.InFlight)*steps)})
	}
	one := (rates[0] + rates[3]) / 2
	for _, add := range more {
		if add.Against != "" {
			add.Base = &one
		}
		b.add(add)
	}
	return nil
}

func (b *bench) crew(ctx context.Context, sync time.Duration, n int) (f flow, conflicts float64, err error) {
	w, err := b.build(ctx, plan{server: separate, sync: sync, workers: b.InFlight})
	if err != nil {
		return f, 0, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	for range n - 1 {
		if err := w.replica(ctx); err != nil {
			return f, 0, err
		}
	}
	if f, err = b.flow(ctx, w, b.InFlight); err != nil {
		return f, 0, err
	}
	conflicts, err = scrape(ctx, w.metrics, "signalbox_conflicts_total")
	return f, conflicts, err
}
