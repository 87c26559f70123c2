package bench

import (
	"context"
	"fmt"
	"time"
)

// replicas measures throughput with several orchestrators, and how many of their appends
// conflict.
func replicas(ctx context.Context, b *bench) error {
	for _, sync := range b.Sync {
		if err := b.replicas(ctx, sync); err != nil {
			return fmt.Errorf("%s mode: %w", mode(sync), err)
		}
	}
	return nil
}

// replicas measures one orchestrator first and last: a machine that becomes slower
// meanwhile would count against several.
func (b *bench) replicas(ctx context.Context, sync time.Duration) error {
	at := Setting{mode(sync), separate, b.InFlight}
	var rates []float64
	var samples []sample
	for i, n := range []int{1, 2, 4, 1} {
		got, conflicts, err := b.replicaRate(ctx, sync, n)
		if err != nil {
			return fmt.Errorf("%d orchestrators: %w", n, err)
		}
		if rates = append(rates, got.perSecond()); i == 3 {
			break
		}
		what := ", 1 orchestrator"
		if n > 1 {
			what = fmt.Sprintf(", %d orchestrators", n)
		}
		perSecond := sample{Scenario: "replicas", Name: "steps" + what, Unit: "1/s", Setting: at, Value: got.perSecond(), Others: got.others}
		if n > 1 {
			perSecond.Against, perSecond.Goal = "one", atLeast(0.95) // not less, but for the noise of a machine
		}
		samples = append(samples, perSecond,
			sample{Scenario: "replicas", Name: "cpu" + what, Unit: "µs/step", Setting: at, Value: got.micros(got.total), Others: got.others},
			sample{Scenario: "replicas", Name: "log" + what, Unit: "B/step", Setting: at, Value: got.bytes, Others: got.others},
			sample{
				Scenario: "replicas", Name: "conflicts" + what, Unit: "1/step", Setting: at,
				Value: conflicts / float64(got.steps+b.warmUp(b.InFlight)*steps),
			})
	}
	one := (rates[0] + rates[3]) / 2
	for _, s := range samples {
		if s.Against != "" {
			s.Base = &one
		}
		b.add(s)
	}
	return nil
}

// replicaRate measures throughput with n orchestrators.
func (b *bench) replicaRate(ctx context.Context, sync time.Duration, n int) (r rate, conflicts float64, err error) {
	s := setup{server: separate, sync: sync, workers: b.InFlight}
	err = b.withEnvironment(ctx, s, func(e *environment) (err error) {
		for range n - 1 {
			if err := e.addOrchestrator(ctx); err != nil {
				return err
			}
		}
		if r, err = b.engineRate(ctx, e); err != nil {
			return err
		}
		conflicts, err = scrape(ctx, e.metrics, "signalbox_conflicts_total")
		return err
	})
	return r, conflicts, err
}
