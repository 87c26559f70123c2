package bench

import (
	"context"
	"errors"
	"runtime"
	"time"

	"github.com/signalbox/signalbox/services/signalbox/bench/machine"
	"github.com/signalbox/signalbox/services/signalbox/bench/process"
)

// use is what something took while it was done.
type use struct {
	took    time.Duration
	cpu     map[string]time.Duration // by the name of a process
	total   time.Duration            // of all those
	others  *float64                 // CPU that others took, percent of the machine; nil if that is not known
	flushes *uint64                  // of the whole disk; nil if that is not known
	why     error                    // why something is not known
}

// during measures what the parts take while f is under way, those included that
// f starts.
func (b *bench) during(ctx context.Context, parts func() []*process.Child, f func() error) (use, error) {
	before, err := b.look(ctx, parts())
	if err != nil {
		return use{}, err
	}
	start := time.Now()
	if err := f(); err != nil {
		return use{}, err
	}
	u := use{took: time.Since(start), cpu: map[string]time.Duration{}}
	after, err := b.look(ctx, parts())
	if err != nil {
		return use{}, err
	}
	for c, now := range after.cpu {
		spent := now - before.cpu[c]
		u.cpu[c.Name] += spent
		u.total += spent
	}
	u.why = errors.Join(after.busyErr, after.flushErr)
	if after.busyErr == nil {
		ours := u.total + after.own - before.own
		others := 100 * float64(after.busy-before.busy-ours) / float64(u.took) / float64(runtime.NumCPU())
		others = max(0, others) // /proc/stat counts in ticks
		u.others = &others
	}
	if after.flushErr == nil {
		n := after.flushes - before.flushes
		u.flushes = &n
	}
	return u, nil
}

// glance is one look at the clocks.
type glance struct {
	cpu               map[*process.Child]time.Duration
	own, busy         time.Duration
	flushes           uint64
	busyErr, flushErr error
}

func (b *bench) look(ctx context.Context, parts []*process.Child) (glance, error) {
	g := glance{cpu: map[*process.Child]time.Duration{}}
	for _, c := range parts {
		u, err := c.Usage(ctx)
		if err != nil {
			return g, err
		}
		g.cpu[c] = u.CPU
	}
	var own process.Usage
	if err := new(process.Process).Usage(process.None{}, &own); err != nil {
		return g, err
	}
	g.own = own.CPU
	g.busy, g.busyErr = machine.Busy()
	g.flushes, g.flushErr = machine.Flushes(b.dir)
	return g, nil
}
