package bench

import (
	"context"
	"time"
)

const withoutAccounts = "no accounts"

// accounts measures what accounts cost: throughput, then hand-offs, each without and with
// them in the same minutes, on a separate nats-server.
func accounts(ctx context.Context, b *bench) error {
	for _, sync := range b.Sync {
		var rates [2]rate
		var gaps [2][]time.Duration
		var used usage
		for i, on := range []bool{false, true} {
			err := b.withEnvironment(ctx, setup{server: separate, sync: sync, workers: b.InFlight, accounts: on}, func(e *environment) (err error) {
				rates[i], err = b.engineRate(ctx, e)
				return err
			})
			if err != nil {
				return err
			}
		}
		for i, on := range []bool{false, true} {
			err := b.withEnvironment(ctx, setup{server: separate, sync: sync, workers: 1, accounts: on}, func(e *environment) (err error) {
				gaps[i], used, err = b.engineHandoffs(ctx, e)
				return err
			})
			if err != nil {
				return err
			}
		}
		base := rates[0].perSecond()
		b.add(sample{
			Scenario: "accounts", Name: "steps", Unit: "1/s", Setting: Setting{mode(sync), separate, b.InFlight}, Value: rates[1].perSecond(),
			Against: withoutAccounts, Base: &base, Others: rates[1].others, Goal: atLeast(0.9),
		})
		b.addHandoffs("accounts", Setting{mode(sync), separate, 1}, gaps[1], gaps[0], used, withoutAccounts, atMost(1.2), nil)
	}
	return nil
}
