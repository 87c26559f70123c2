package bench

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/signalbox/signalbox/services/signalbox/bench/load"
	"github.com/signalbox/signalbox/services/signalbox/bench/process"
)

// ackWait is how long an agent may be silent in this measurement.
const ackWait = 2 * time.Second

// killed measures how long the work of an agent that is killed stays undone,
// while other agents wait for work: work that came from the queue, and work that
// it was given directly.
func killed(ctx context.Context, b *bench) error {
	if err := b.killed(ctx, 1, "step of a killed agent begun again, the last of 8"); err != nil {
		return err
	}
	return b.killed(ctx, 2, "step given directly to a killed agent begun again, the last of 8")
}

// killed has the agent be killed at the given step of its instances.
func (b *bench) killed(ctx context.Context, step int, figure string) (err error) {
	const pieces = 8
	w, err := b.build(ctx, plan{server: separate, sync: b.Sync[0], ackWait: ackWait})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	victim, err := w.staff(ctx, pieces, step == 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, victim.Close()) }()
	if err := victim.Call(ctx, "Agents.Open", load.Order{Workflow: "bench", Prefix: "held", Steps: steps, Pause: step, Instances: pieces, InFlight: 1}, &process.None{}); err != nil {
		return err
	}
	var begun []int64
	if step == 1 {
		err = victim.Call(ctx, "Agents.Begun", pieces, &begun)
	} else {
		err = victim.Call(ctx, "Agents.Paused", pieces, &process.None{})
	}
	if err != nil {
		return err
	}
	if w.agents, err = w.staff(ctx, pieces, true); err != nil {
		return err
	}
	u, err := b.during(ctx, w.parts, func() error {
		at := time.Now().UnixNano()
		if err := victim.Kill(); err != nil {
			return err
		}
		if err := w.agents.Call(ctx, "Agents.Begun", pieces, &begun); err != nil {
			return err
		}
		for i := range begun {
			begun[i] -= at
		}
		return nil
	})
	if err != nil {
		return err
	}
	limit := ackWait.Seconds()
	b.add(sample{Scenario: "kill", Name: figure, Unit: "s", Setting: Setting{Mode: mode(b.Sync[0]), Server: separate},
		Value: time.Duration(slices.Max(begun)).Seconds(), Against: "AckWait", Base: &limit, Others: u.others, Goal: within(limit + 0.5)})
	return nil
}
