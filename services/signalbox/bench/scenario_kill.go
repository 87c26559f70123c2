package bench

import (
	"context"
	"errors"
	"time"

	"github.com/signalbox/signalbox/services/signalbox/bench/load"
	"github.com/signalbox/signalbox/services/signalbox/bench/process"
)

// killAckWait is the AckWait of this scenario.
const killAckWait = 2 * time.Second

// killAgent measures how long the work of a killed agent lies while other agents wait for
// work. The first work came from the queue, the second was handed over directly.
func killAgent(ctx context.Context, b *bench) error {
	if err := b.killAgentAt(ctx, 1, "step of a killed agent begun again, the last of 8"); err != nil {
		return err
	}
	return b.killAgentAt(ctx, 2, "step given directly to a killed agent begun again, the last of 8")
}

// killAgentAt kills the agent while its instances are held at a step. The others hold
// them at the same step.
func (b *bench) killAgentAt(ctx context.Context, step int, figure string) error {
	const pieces = 8
	s := setup{server: separate, sync: b.Sync[0], ackWait: killAckWait}
	return b.withEnvironment(ctx, s, func(e *environment) (err error) {
		victim, err := e.startAgents(ctx, pieces)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, victim.Close()) }()
		o := load.Order{Workflow: "bench", Prefix: "held", Steps: steps, Pause: step, Instances: pieces, InFlight: 1}
		if err := victim.Call(ctx, "Agents.Open", o, &process.None{}); err != nil {
			return err
		}
		if err := victim.Call(ctx, "Agents.Paused", pieces, &process.None{}); err != nil {
			return err
		}
		if e.agents, err = e.startAgents(ctx, pieces); err != nil {
			return err
		}
		u, err := b.measure(ctx, e.processes, func() error {
			if err := victim.Kill(); err != nil {
				return err
			}
			return e.agents.Call(ctx, "Agents.Paused", pieces, &process.None{})
		})
		if err != nil {
			return err
		}
		limit := killAckWait.Seconds()
		b.add(sample{
			Scenario: "kill", Name: figure, Unit: "s", Setting: Setting{Mode: mode(s.sync), Server: separate},
			Value: u.took.Seconds(), Against: "AckWait", Base: &limit, Others: u.others, Goal: within(limit + 0.5),
		})
		return nil
	})
}
