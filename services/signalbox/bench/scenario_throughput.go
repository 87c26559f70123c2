package bench

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/signalbox/signalbox/services/signalbox/bench/baseline"
	"github.com/signalbox/signalbox/services/signalbox/bench/load"
	"github.com/signalbox/signalbox/services/signalbox/bench/machine"
	"github.com/signalbox/signalbox/services/signalbox/bench/process"
)

// steps is how many steps one instance of the lifecycle has.
const steps = 8

func throughput(ctx context.Context, b *bench) error {
	for _, sync := range b.Sync {
		if err := b.pour(ctx, "throughput", sync, b.InFlight, atLeast(0.6)); err != nil {
			return err
		}
	}
	return nil
}

func crowd(ctx context.Context, b *bench) error {
	return b.pour(ctx, "crowd", 0, 256, atLeast(0.5))
}

// pour measures steps a second: the floor, then the engine over each server.
func (b *bench) pour(ctx context.Context, name string, sync time.Duration, inFlight int, goal *Goal) error {
	base, err := b.floorSteps(ctx, sync, inFlight)
	if err != nil {
		return fmt.Errorf("%s mode, floor: %w", mode(sync), err)
	}
	for _, server := range b.Server {
		got, err := b.engineSteps(ctx, plan{server: server, sync: sync, workers: inFlight}, inFlight)
		if err != nil {
			return fmt.Errorf("%s mode, %s nats-server: %w", mode(sync), server, err)
		}
		b.poured(name, Setting{mode(sync), server, inFlight}, got, base, goal)
	}
	return nil
}

// flow is what steps took.
type flow struct {
	use
	steps int
	bytes float64 // of log a step
	disk  float64 // bytes on disk a step
}

func (f flow) rate() float64                { return float64(f.steps) / f.took.Seconds() }
func (f flow) each(d time.Duration) float64 { return float64(d.Microseconds()) / float64(f.steps) }

// poured adds the figures.
func (b *bench) poured(name string, s Setting, got, base flow, goal *Goal) {
	add := func(figure, unit string, value, base float64, goal *Goal) {
		b.add(sample{Scenario: name, Name: figure, Unit: unit, Setting: s, Value: value, Against: "floor", Base: &base, Others: got.others, Goal: goal})
	}
	add("steps", "1/s", got.rate(), base.rate(), goal)
	add("cpu", "µs/step", got.each(got.total), base.each(base.total), within(300))
	for _, process := range slices.Sorted(maps.Keys(got.cpu)) {
		b.add(sample{Scenario: name, Name: "cpu of " + process, Unit: "µs/step", Setting: s, Value: got.each(got.cpu[process]), Others: got.others})
	}
	add("log", "B/step", got.bytes, base.bytes, within(750))
	add("disk", "B/step", got.disk, base.disk, nil)
	flushes := sample{Scenario: name, Name: "flushes of the whole disk", Unit: "1/step", Setting: s, Others: got.others, Against: "floor"}
	if got.flushes == nil || base.flushes == nil {
		flushes.Reason = errors.Join(got.why).Error()
	} else {
		flushes.Value = float64(*got.flushes) / float64(got.steps)
		of := float64(*base.flushes) / float64(base.steps)
		flushes.Base = &of
	}
	b.add(flushes)
}

// warm is how many instances are taken through before it counts.
func (b *bench) warm(inFlight int) int { return min(b.Instances, 2*inFlight) }

func (b *bench) engineSteps(ctx context.Context, p plan, inFlight int) (f flow, err error) {
	w, err := b.build(ctx, p)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	return b.flow(ctx, w, inFlight)
}

// flow has instances taken to their ends in a world.
func (b *bench) flow(ctx context.Context, w *world, inFlight int) (f flow, err error) {
	order := load.Order{Workflow: w.flows(), Prefix: "warm", Instances: b.warm(inFlight), Steps: steps, InFlight: inFlight}
	if _, err := w.run(ctx, order); err != nil {
		return f, err
	}
	var before, after process.Size
	if err := w.agents.Call(ctx, "Log.Size", w.url, &before); err != nil {
		return f, err
	}
	if err := b.profile(ctx, w.parts()); err != nil {
		return f, err
	}
	order.Prefix, order.Instances = "load", b.Instances
	var r load.Result
	f.steps = b.Instances * steps
	f.use, err = b.during(ctx, w.parts, func() (err error) { r, err = w.run(ctx, order); return err })
	if err != nil {
		return f, err
	}
	if err := b.profiled(ctx, w.parts()); err != nil {
		return f, err
	}
	f.took = r.Took
	if err := w.agents.Call(ctx, "Log.Size", w.url, &after); err != nil {
		return f, err
	}
	if stored, least := after.Messages-before.Messages, uint64(f.steps); stored < least { // a report, and the claim of the next step with it
		return f, fmt.Errorf("%d commits were stored for %d steps, want at least %d", stored, f.steps, least)
	}
	f.bytes = float64(after.Bytes-before.Bytes) / float64(f.steps)
	disk, err := machine.Size(w.dir)
	f.disk = float64(disk) / float64(f.steps+b.warm(inFlight)*steps)
	return f, errors.Join(err, b.synced(w.sync, f.use))
}

// synced refuses a strict measurement during which the disk was never flushed.
func (b *bench) synced(sync time.Duration, u use) error {
	if sync == 0 && u.flushes != nil && *u.flushes == 0 {
		return errors.New("the server was told to flush each write, and the disk was never flushed")
	}
	return nil
}

func (b *bench) floorSteps(ctx context.Context, sync time.Duration, inFlight int) (f flow, err error) {
	o := baseline.Order{Batch: sync == 0, Prefix: "load", Instances: b.Instances, Steps: steps, InFlight: inFlight}
	r, u, disk, err := b.raw(ctx, sync, b.warm(inFlight), o)
	f = flow{use: u, steps: b.Instances * steps, disk: disk}
	f.took = r.Took
	f.bytes = float64(r.Bytes) / float64(r.Messages) * float64(2*steps+1) / steps
	return f, errors.Join(err, b.synced(sync, u))
}

// raw has the floor do what is ordered, on a server of its own.
func (b *bench) raw(ctx context.Context, sync time.Duration, warm int, o baseline.Order) (r baseline.Result, u use, disk float64, err error) {
	dir, err := b.storeDir("")
	if err != nil {
		return r, u, 0, err
	}
	var parts []*process.Child
	defer func() {
		for _, c := range slices.Backward(parts) {
			err = errors.Join(err, c.Close())
		}
	}()
	for _, name := range []string{"nats-server", "load"} {
		c, err := process.Start(name)
		if err != nil {
			return r, u, 0, err
		}
		parts = append(parts, c)
	}
	var url string
	if err := parts[0].Call(ctx, "Server.Start", process.ServerArgs{Dir: dir, Sync: sync}, &url); err != nil {
		return r, u, 0, err
	}
	first := o
	first.Prefix, first.Instances = "warm", warm
	if err := parts[1].Call(ctx, "Baseline.Run", process.BaselineArgs{URL: url, Order: first}, &r); err != nil {
		return r, u, 0, err
	}
	u, err = b.during(ctx, func() []*process.Child { return parts }, func() error {
		return parts[1].Call(ctx, "Baseline.Run", process.BaselineArgs{URL: url, Order: o}, &r)
	})
	if err != nil {
		return r, u, 0, err
	}
	size, err := machine.Size(dir)
	return r, u, float64(size) / float64((warm+o.Instances)*steps), err
}
