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

// steps is the number of steps of an instance of the lifecycle.
const steps = 8

func throughput(ctx context.Context, b *bench) error {
	for _, sync := range b.Sync {
		s := setup{sync: sync, workers: b.InFlight}
		if err := b.runThroughput(ctx, "throughput", s, b.Server, atLeast(0.8)); err != nil {
			return err
		}
	}
	return nil
}

func crowd(ctx context.Context, b *bench) error {
	return b.runThroughput(ctx, "crowd", setup{workers: 256}, b.Server, atLeast(0.9))
}

// runThroughput measures steps a second: first of the baseline, then of the engine with
// each kind of server. As many instances are in flight as there are workers.
func (b *bench) runThroughput(ctx context.Context, name string, s setup, servers []string, goal *Goal) error {
	base, err := b.baselineRate(ctx, s.sync, s.workers)
	if err != nil {
		return fmt.Errorf("%s mode, baseline: %w", mode(s.sync), err)
	}
	for _, s.server = range servers {
		var got rate
		err := b.withEnvironment(ctx, s, func(e *environment) (err error) {
			got, err = b.engineRate(ctx, e)
			return err
		})
		if err != nil {
			return fmt.Errorf("%s mode, %s nats-server: %w", mode(s.sync), s.server, err)
		}
		b.addThroughput(name, Setting{mode(s.sync), s.server, s.workers}, got, base, goal)
	}
	return nil
}

// rate is what a number of steps used.
type rate struct {
	usage
	steps int
	bytes float64 // of the log, for each step
	disk  float64 // bytes on disk, for each step
}

func (r rate) perSecond() float64             { return float64(r.steps) / r.took.Seconds() }
func (r rate) micros(d time.Duration) float64 { return float64(d.Microseconds()) / float64(r.steps) }

// addThroughput adds the figures of a throughput.
func (b *bench) addThroughput(name string, s Setting, got, base rate, goal *Goal) {
	add := func(figure, unit string, value, base float64, goal *Goal) {
		b.add(sample{
			Scenario: name, Name: figure, Unit: unit, Setting: s, Value: value,
			Against: "baseline", Base: &base, Others: got.others, Goal: goal,
		})
	}
	add("steps", "1/s", got.perSecond(), base.perSecond(), goal)
	add("cpu", "µs/step", got.micros(got.total), base.micros(base.total), within(300))
	for _, process := range slices.Sorted(maps.Keys(got.cpu)) {
		b.add(sample{Scenario: name, Name: "cpu of " + process, Unit: "µs/step", Setting: s, Value: got.micros(got.cpu[process]),
			Others: got.others})
	}
	add("log", "B/step", got.bytes, base.bytes, within(750))
	add("disk", "B/step", got.disk, base.disk, nil)
	flushes := sample{Scenario: name, Name: "flushes of the whole disk", Unit: "1/step", Setting: s, Others: got.others,
		Against: "baseline"}
	if got.flushes == nil || base.flushes == nil {
		flushes.Reason = got.flushErr.Error()
	} else {
		flushes.Value = float64(*got.flushes) / float64(got.steps)
		of := float64(*base.flushes) / float64(base.steps)
		flushes.Base = &of
	}
	b.add(flushes)
}

// warmUp is the number of instances that run before a measurement begins. Processes that
// have just started are slower for about half a second, the engine's more than the baseline's.
func (b *bench) warmUp(inFlight int) int { return min(b.Instances, max(1000, 2*inFlight)) }

// engineRate runs --instances instances to their ends.
func (b *bench) engineRate(ctx context.Context, e *environment) (r rate, err error) {
	order := load.Order{Workflow: e.workflow(), Prefix: "warm", Instances: b.warmUp(e.workers), Steps: steps, InFlight: e.workers}
	if _, err := e.run(ctx, order); err != nil {
		return r, err
	}
	var before, after process.Size
	if err := e.agents.Call(ctx, "Log.Size", e.url, &before); err != nil {
		return r, err
	}
	if err := b.startProfiles(ctx, e.processes()); err != nil {
		return r, err
	}
	order.Prefix, order.Instances = "load", b.Instances
	var result load.Result
	r.steps = b.Instances * steps
	r.usage, err = b.measure(ctx, e.processes, func() (err error) { result, err = e.run(ctx, order); return err })
	if err != nil {
		return r, err
	}
	r.took = result.Took
	err = errors.Join(b.stopProfiles(ctx, e.processes()), e.agents.Call(ctx, "Log.Size", e.url, &after))
	if err != nil {
		return r, err
	}
	// A step is at least a report, with the claim of the next step.
	if stored, least := after.Messages-before.Messages, uint64(r.steps); stored < least {
		return r, fmt.Errorf("%d commits were stored for %d steps, want at least %d", stored, r.steps, least)
	}
	r.bytes = float64(after.Bytes-before.Bytes) / float64(r.steps)
	disk, err := machine.Size(e.dir)
	r.disk = float64(disk) / float64(r.steps+b.warmUp(e.workers)*steps)
	return r, errors.Join(err, checkFlushed(e.sync, r.usage))
}

// checkFlushed returns an error if the disk was not flushed in strict mode.
func checkFlushed(sync time.Duration, u usage) error {
	if sync == 0 && u.flushes != nil && *u.flushes == 0 {
		return errors.New("the server was set to flush each write, and the disk was never flushed")
	}
	return nil
}

// baselineRate runs as many instances on the baseline.
func (b *bench) baselineRate(ctx context.Context, sync time.Duration, inFlight int) (r rate, err error) {
	o := baseline.Order{Batch: sync == 0, Prefix: "load", Instances: b.Instances, Steps: steps, InFlight: inFlight}
	result, u, disk, err := b.runBaseline(ctx, sync, b.warmUp(inFlight), o)
	r = rate{usage: u, steps: b.Instances * steps, disk: disk}
	r.took = result.Took
	r.bytes = float64(result.Bytes) / float64(result.Messages) * float64(2*steps+1) / steps
	return r, errors.Join(err, checkFlushed(sync, u))
}

// runBaseline has the baseline carry out an order on a server of its own, after warm
// instances that do not count. disk is the bytes on disk for each step.
func (b *bench) runBaseline(ctx context.Context, sync time.Duration, warm int, o baseline.Order) (
	r baseline.Result, u usage, disk float64, err error,
) {
	dir, err := b.storeDir("")
	if err != nil {
		return r, u, 0, err
	}
	err = withProcess("nats-server", func(server *process.Child) error {
		return withProcess("load", func(load *process.Child) error {
			var url string
			if err := server.Call(ctx, "Server.Start", process.ServerArgs{Dir: dir, Sync: sync}, &url); err != nil {
				return err
			}
			first := o
			first.Prefix, first.Instances = "warm", warm
			if err := load.Call(ctx, "Baseline.Run", process.BaselineArgs{URL: url, Order: first}, &r); err != nil {
				return err
			}
			both := func() []*process.Child { return []*process.Child{server, load} }
			u, err = b.measure(ctx, both, func() error {
				return load.Call(ctx, "Baseline.Run", process.BaselineArgs{URL: url, Order: o}, &r)
			})
			return err
		})
	})
	if err != nil {
		return r, u, 0, err
	}
	size, err := machine.Size(dir)
	return r, u, float64(size) / float64((warm+o.Instances)*steps), err
}
