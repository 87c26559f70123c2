package bench

import (
	"context"
	"errors"
	"fmt"
)

// replicas measures throughput with several orchestrators, and how often they got
// in each other's way.
func replicas(ctx context.Context, b *bench) error {
	var base *float64
	for _, n := range []int{1, 2, 4} {
		got, conflicts, err := b.crew(ctx, n)
		if err != nil {
			return fmt.Errorf("%d orchestrators: %w", n, err)
		}
		rate := got.rate()
		if base == nil {
			base = &rate
		}
		s := Setting{mode(b.Sync[0]), separate, b.InFlight}
		what := ", 1 orchestrator"
		if n > 1 {
			what = fmt.Sprintf(", %d orchestrators", n)
		}
		add := sample{Scenario: "replicas", Name: "steps" + what, Unit: "1/s", Setting: s, Value: rate, Others: got.others}
		if n > 1 {
			add.Against, add.Base, add.Goal = "one", base, atLeast(1)
		}
		b.add(add)
		b.add(sample{Scenario: "replicas", Name: "cpu" + what, Unit: "µs/step", Setting: s, Value: got.each(got.total), Others: got.others})
		b.add(sample{Scenario: "replicas", Name: "conflicts" + what, Unit: "1/step", Setting: s, Value: conflicts / float64(got.steps+b.warm(b.InFlight)*steps)})
	}
	return nil
}

func (b *bench) crew(ctx context.Context, n int) (f flow, conflicts float64, err error) {
	w, err := b.build(ctx, plan{server: separate, sync: b.Sync[0], workers: b.InFlight})
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
