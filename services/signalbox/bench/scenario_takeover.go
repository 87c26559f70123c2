package bench

import (
	"context"

	"github.com/signalbox/signalbox/services/signalbox/bench/load"
)

// takeover measures how soon a stand-by goes on when the active orchestrator is killed. It
// ends when an instance that is opened right after the kill has made its steps.
func takeover(ctx context.Context, b *bench) error {
	s := setup{server: separate, sync: b.Sync[0]}
	return b.withEnvironment(ctx, s, func(e *environment) (err error) {
		if err := e.addOrchestrator(ctx); err != nil {
			return err
		}
		if e.agents, err = e.startAgents(ctx, 1); err != nil {
			return err
		}
		active := e.orchestrators[0]
		e.orchestrators = e.orchestrators[1:]
		u, err := b.measure(ctx, e.processes, func() error {
			if err := active.Kill(); err != nil {
				return err
			}
			_, err := e.run(ctx, load.Order{Workflow: e.workflow(), Prefix: "takeover", Steps: steps, Instances: 1, InFlight: 1})
			return err
		})
		if err != nil {
			return err
		}
		b.add(sample{
			Scenario: "takeover", Name: "8 steps after the orchestrator was killed", Unit: "s", Others: u.others,
			Setting: Setting{Mode: mode(s.sync), Server: separate}, Value: u.took.Seconds(),
		})
		return nil
	})
}
