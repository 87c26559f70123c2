package bench

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/signalbox/signalbox/services/signalbox/bench/load"
	"github.com/signalbox/signalbox/services/signalbox/bench/process"
)

// near is the early step that a late one is measured against.
const near = 8

// far measures a late step of an instance against an early one. It does so once more
// after a restart of the orchestrator while instances are at both steps.
func far(ctx context.Context, b *bench) error {
	s := setup{server: separate, sync: b.Sync[0], workers: 2*held + 5}
	return b.withEnvironment(ctx, s, func(e *environment) error {
		add := func(name string, u usage, early, late []time.Duration) {
			base := ms(quantile(early, 0.5))
			b.add(sample{
				Scenario: "far", Name: fmt.Sprintf("start of step %d p50%s", b.Far, name), Unit: "ms", Setting: Setting{mode(s.sync), s.server, 1},
				Value: ms(quantile(late, 0.5)), Against: "step 8", Base: &base, Others: u.others, Goal: atMost(1.1),
			})
		}
		u, early, late, err := b.stepsOfOne(ctx, e)
		if err != nil {
			return err
		}
		add("", u, early, late)
		if u, early, late, err = b.stepsAfterRestart(ctx, e); err != nil {
			return err
		}
		add(", first after a restart", u, early, late)
		return nil
	})
}

// around is the number of steps before and after the late one that are measured, too.
const around = 50

// stepsOfOne runs one long instance, and short ones before and after it. It returns the
// hand-offs around the early step of the short ones and around the late one.
func (b *bench) stepsOfOne(ctx context.Context, e *environment) (u usage, early, late []time.Duration, err error) {
	const instances, length = 9, near + 3 // steps 6 to 10 of each short one
	short := load.Order{Workflow: "long", Steps: length, Instances: instances, InFlight: 1, Watch: true}
	runShort := func(prefix string) error {
		short.Prefix = prefix
		r, err := e.run(ctx, short)
		if err != nil {
			return err
		}
		for i := range instances {
			first := i * (length - 1) // hand-offs of one instance
			early = append(early, r.Gaps[first+near-4:first+near+1]...)
		}
		return nil
	}
	u, err = b.measure(ctx, e.processes, func() error {
		if err := runShort("short"); err != nil {
			return err
		}
		r, err := e.run(ctx, load.Order{Workflow: "long", Prefix: "far", Steps: b.Far + around, Instances: 1, InFlight: 1, Watch: true})
		if err != nil {
			return err
		}
		late = r.Gaps[max(0, len(r.Gaps)-2*around):]
		return runShort("short again")
	})
	return u, early, late, err
}

// held is the number of instances that are held at each of the two steps. Each has one
// first hand-off after the restart; with few of them the medians differ by a third.
const held = 60

// stepsAfterRestart holds instances at both steps, restarts the orchestrator, and resumes
// the instances one after the other. It holds the late ones first: the early ones would
// have to wait for them, and extend their leases meanwhile.
func (b *bench) stepsAfterRestart(ctx context.Context, e *environment) (u usage, early, late []time.Duration, err error) {
	groups := [2]struct {
		prefix string
		step   int
		gaps   []time.Duration // the first hand-off of each after the restart
	}{{prefix: "held late", step: b.Far}, {prefix: "held early", step: near}}
	for i, g := range groups {
		o := load.Order{Workflow: "long", Prefix: g.prefix, Steps: g.step + 2, Pause: g.step, Instances: held, InFlight: held}
		if err := e.agents.Call(ctx, "Agents.Open", o, &process.None{}); err != nil {
			return u, nil, nil, err
		}
		if err := e.agents.Call(ctx, "Agents.Paused", (i+1)*held, &process.None{}); err != nil {
			return u, nil, nil, err
		}
	}
	if err := errors.Join(e.stopOrchestrators(), e.addOrchestrator(ctx)); err != nil {
		return u, nil, nil, err
	}
	// A new process is slow at first.
	if _, err := e.run(ctx, load.Order{Workflow: "long", Prefix: "restarted", Steps: steps, Instances: 20, InFlight: 1}); err != nil {
		return u, nil, nil, err
	}
	u, err = b.measure(ctx, e.processes, func() error {
		for i := range held {
			for n := range groups { // each group is first as often as the other
				g := &groups[(i+n)%len(groups)]
				var gaps []time.Duration
				if err := e.agents.Call(ctx, "Agents.Resume", g.prefix+"/"+strconv.Itoa(i), &gaps); err != nil {
					return err
				}
				g.gaps = append(g.gaps, gaps[0])
			}
		}
		return nil
	})
	return u, groups[1].gaps, groups[0].gaps, err
}
