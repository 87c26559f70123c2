package bench

import (
	"context"
	"errors"

	"github.com/signalbox/signalbox/services/signalbox/bench/load"
)

// takeover measures how soon work goes on when the active orchestrator is killed
// and another stands by: until an instance that is opened right after the kill has
// done its steps.
func takeover(ctx context.Context, b *bench) (err error) {
	w, err := b.build(ctx, plan{server: separate, sync: b.Sync[0]})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	if err := w.replica(ctx); err != nil {
		return err
	}
	if w.agents, err = w.staff(ctx, 1, false); err != nil {
		return err
	}
	active := w.orchestrators[0]
	w.orchestrators = w.orchestrators[1:]
	u, err := b.during(ctx, w.parts, func() error {
		if err := active.Kill(); err != nil {
			return err
		}
		_, err := w.run(ctx, load.Order{Workflow: w.flows(), Prefix: "takeover", Steps: steps, Instances: 1, InFlight: 1})
		return err
	})
	if err != nil {
		return err
	}
	b.add(sample{Scenario: "takeover", Name: "8 steps after the orchestrator was killed", Unit: "s", Others: u.others,
		Setting: Setting{Mode: mode(b.Sync[0]), Server: separate}, Value: u.took.Seconds()})
	return nil
}
