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

// near is the step that a far one is measured against.
const near = 8

// far measures a late step of one instance against an early one, then right
// after an orchestrator was restarted while both were under way.
func far(ctx context.Context, b *bench) (err error) {
	p := plan{server: separate, sync: b.Sync[0], workers: 2*held + 5}
	w, err := b.build(ctx, p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	s := Setting{mode(p.sync), p.server, 1}
	what := fmt.Sprintf("start of step %d p50", b.Far)
	u, early, late, err := b.along(ctx, w)
	if err != nil {
		return err
	}
	base := ms(at(early, 0.5))
	b.add(sample{Scenario: "far", Name: what, Unit: "ms", Setting: s, Value: ms(at(late, 0.5)), Against: "step 8", Base: &base, Others: u.others, Goal: atMost(1.1)})

	u, early, late, err = b.restarted(ctx, w)
	if err != nil {
		return err
	}
	base = ms(at(early, 0.5))
	b.add(sample{Scenario: "far", Name: what + ", first after a restart", Unit: "ms", Setting: s, Value: ms(at(late, 0.5)), Against: "step 8", Base: &base, Others: u.others, Goal: atMost(1.1)})
	return nil
}

// around is how many steps before and after the one that is meant are looked at
// too: one hand-off alone says little.
const around = 50

// along takes one instance all the way, short ones before and after it.
func (b *bench) along(ctx context.Context, w *world) (u use, early, late []time.Duration, err error) {
	const few, reach = 9, near + 3 // steps 6 to 10 of each short one
	short := load.Order{Workflow: "long", Steps: reach, Instances: few, InFlight: 1, Watch: true}
	shorts := func(prefix string) error {
		short.Prefix = prefix
		r, err := w.run(ctx, short)
		if err != nil {
			return err
		}
		for i := range few {
			first := i * (reach - 1) // hand-offs of one instance
			early = append(early, r.Gaps[first+near-4:first+near+1]...)
		}
		return nil
	}
	u, err = b.during(ctx, w.parts, func() error {
		if err := shorts("short"); err != nil {
			return err
		}
		r, err := w.run(ctx, load.Order{Workflow: "long", Prefix: "far", Steps: b.Far + around, Instances: 1, InFlight: 1, Watch: true})
		if err != nil {
			return err
		}
		late = r.Gaps[max(0, len(r.Gaps)-2*around):]
		return shorts("short again")
	})
	return u, early, late, err
}

// held is how many instances are held at each of the two steps: of each there is
// one first hand-off, and with a few of them the medians differ by a third when
// nothing else does.
const held = 60

// kind is instances that are held at one of the two steps.
type kind struct {
	prefix string
	step   int
	gaps   []time.Duration // the first hand-off of each after the restart
}

// restarted holds instances at both steps, starts the orchestrator anew, and
// lets one after the other go on. The late ones are held first: those that wait
// for them to get there would wait for longer, and extend their leases meanwhile.
func (b *bench) restarted(ctx context.Context, w *world) (u use, early, late []time.Duration, err error) {
	kinds := [2]*kind{{prefix: "held late", step: b.Far}, {prefix: "held early", step: near}}
	for i, k := range kinds {
		o := load.Order{Workflow: "long", Prefix: k.prefix, Steps: k.step + 2, Pause: k.step, Instances: held, InFlight: held}
		if err := w.agents.Call(ctx, "Agents.Open", o, &process.None{}); err != nil {
			return u, nil, nil, err
		}
		if err := w.agents.Call(ctx, "Agents.Paused", (i+1)*held, &process.None{}); err != nil {
			return u, nil, nil, err
		}
	}
	if err := errors.Join(w.retire(), w.replica(ctx)); err != nil {
		return u, nil, nil, err
	}
	o := load.Order{Workflow: "long", Prefix: "woken", Steps: steps, Instances: 20, InFlight: 1}
	if _, err := w.run(ctx, o); err != nil { // a process that just began is slow at all it does
		return u, nil, nil, err
	}
	u, err = b.during(ctx, w.parts, func() error {
		for i := range held {
			for n := range kinds { // each kind goes first as often
				k := kinds[(i+n)%len(kinds)]
				var gaps []time.Duration
				if err := w.agents.Call(ctx, "Agents.Resume", k.prefix+"/"+strconv.Itoa(i), &gaps); err != nil {
					return err
				}
				k.gaps = append(k.gaps, gaps[0])
			}
		}
		return nil
	})
	return u, kinds[1].gaps, kinds[0].gaps, err
}
