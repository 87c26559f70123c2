package bench

import (
	"context"
	"errors"
	"runtime"
	"strconv"
	"time"

	"github.com/signalbox/signalbox/services/signalbox/bench/machine"
	"github.com/signalbox/signalbox/services/signalbox/bench/process"
)

// usage is what a measurement used.
type usage struct {
	took     time.Duration
	cpu      map[string]time.Duration // by the name of a process
	total    time.Duration            // sum of cpu
	others   *float64                 // CPU of other processes, percent of the machine; nil: unknown
	flushes  *uint64                  // of the whole disk; nil: unknown
	flushErr error                    // why flushes is nil
}

// measure calls f and returns what the processes used meanwhile, with those that f
// starts.
func (b *bench) measure(ctx context.Context, processes func() []*process.Child, f func() error) (usage, error) {
	before, err := b.readCounters(ctx, processes())
	if err != nil {
		return usage{}, err
	}
	start := time.Now()
	if err := f(); err != nil {
		return usage{}, err
	}
	u := usage{took: time.Since(start), cpu: map[string]time.Duration{}}
	after, err := b.readCounters(ctx, processes())
	if err != nil {
		return usage{}, err
	}
	for c, now := range after.cpu {
		spent := now - before.cpu[c]
		u.cpu[c.Name] += spent
		u.total += spent
	}
	if after.busyErr == nil {
		ours := u.total + after.own - before.own
		others := 100 * float64(after.busy-before.busy-ours) / float64(u.took) / float64(runtime.NumCPU())
		others = max(0, others) // /proc/stat counts in ticks
		u.others = &others
	}
	if u.flushErr = errors.Join(after.busyErr, after.flushErr); after.flushErr == nil {
		n := after.flushes - before.flushes
		u.flushes = &n
	}
	return u, nil
}

// counters are the values of all counters at one time.
type counters struct {
	cpu               map[*process.Child]time.Duration
	own, busy         time.Duration // CPU of this process, and of all
	flushes           uint64
	busyErr, flushErr error
}

func (b *bench) readCounters(ctx context.Context, processes []*process.Child) (counters, error) {
	at := counters{cpu: map[*process.Child]time.Duration{}}
	for _, c := range processes {
		u, err := c.Usage(ctx)
		if err != nil {
			return at, err
		}
		at.cpu[c] = u.CPU
	}
	var own process.Usage
	if err := new(process.Process).Usage(process.None{}, &own); err != nil {
		return at, err
	}
	at.own = own.CPU
	at.busy, at.busyErr = machine.Busy()
	at.flushes, at.flushErr = machine.Flushes(b.dir)
	return at, nil
}

// startProfiles starts a CPU profile of each process if --profile is set. A later
// measurement replaces the files of an earlier one.
func (b *bench) startProfiles(ctx context.Context, processes []*process.Child) error {
	if b.Profile == "" {
		return nil
	}
	count := map[string]int{}
	for _, c := range processes {
		file := b.Profile + "." + c.Name
		if count[c.Name]++; count[c.Name] > 1 {
			file += "-" + strconv.Itoa(count[c.Name])
		}
		if err := c.Call(ctx, "Process.Profile", file, &process.None{}); err != nil {
			return err
		}
	}
	return nil
}

// stopProfiles ends the profiles.
func (b *bench) stopProfiles(ctx context.Context, processes []*process.Child) error {
	if b.Profile == "" {
		return nil
	}
	for _, c := range processes {
		if err := c.Call(ctx, "Process.Profiled", process.None{}, &process.None{}); err != nil {
			return err
		}
	}
	return nil
}
