package e2e

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/faultproxy"
)

// weather makes faults, one kind after the other and several at a time, until
// it is told to stop.
type faultInjector struct {
	*chaosEnv
	recorder *commandRecorder
	disk     *slowDisk // nil: it cannot be slowed down here
	wg       sync.WaitGroup
	counts   map[string]*atomic.Int64 // by kind
}

// calamity is one kind of fault; it returns how many it made.
type fault struct {
	name   string
	inject func(w *faultInjector, ctx context.Context, r *rand.Rand) int64
}

func faults() []fault {
	return []fault{
		{"kills", (*faultInjector).kill}, {"pauses", (*faultInjector).pause}, {"slow connections", (*faultInjector).slow}, {"cuts", (*faultInjector).cut},
		{"resets", (*faultInjector).reset}, {"half-open connections", (*faultInjector).halfOpen}, {"slow disks", (*faultInjector).slowDisk}, {"repeated commands", (*faultInjector).repeatCommands},
		{"stolen deliveries", (*faultInjector).stealDeliveries}, {"rewound deliveries", (*faultInjector).rewindDeliveries},
	}
}

// brew makes faults until ctx ends, every kind at least once, about one in each
// pause. It returns when all it began has ended.
func (w *faultInjector) run(ctx context.Context, t *testing.T, r *rand.Rand, pause time.Duration) {
	t.Helper()
	all := faults()
	for range 2 {
		all = append(all, faults()[0]) // more kills than anything
	}
	w.counts = map[string]*atomic.Int64{}
	for _, c := range all {
		w.counts[c.name] = new(atomic.Int64)
	}
	for n := 0; ; n++ {
		select {
		case <-time.After(rand.N(2 * pause)):
		case <-ctx.Done():
		}
		if ctx.Err() != nil && (n >= len(all) || t.Failed()) {
			w.wg.Wait()
			return
		}
		if n%len(all) == 0 {
			r.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
		}
		c, own := all[n%len(all)], rand.New(rand.NewPCG(r.Uint64(), 0))
		w.wg.Go(func() { w.counts[c.name].Add(c.inject(w, context.WithoutCancel(ctx), own)) })
	}
}

// seat is any.
func (w *faultInjector) anyProcess(r *rand.Rand) *supervised {
	return w.supervisor.processes[r.IntN(len(w.supervisor.processes))]
}

// wait is how long a fault lasts: often longer than a lease.
func (w *faultInjector) hold(r *rand.Rand, least, most time.Duration) {
	<-time.After(least + time.Duration(r.Int64N(int64(most-least))))
}

func (w *faultInjector) kill(_ context.Context, r *rand.Rand) int64 {
	victims := []*supervised{w.anyProcess(r)}
	if r.IntN(3) == 0 {
		victims = append(victims, w.anyProcess(r), w.anyProcess(r))
	}
	for _, s := range victims {
		s.kill()
	}
	return int64(len(victims))
}

func (w *faultInjector) pause(_ context.Context, r *rand.Rand) int64 {
	p := w.anyProcess(r).current()
	p.signal(syscall.SIGSTOP)
	w.hold(r, chaosLease/2, 2*chaosLease)
	p.signal(syscall.SIGCONT)
	return 1
}

// line is a connection of some seat, to the server or to the forge.
func (w *faultInjector) anyProxy(r *rand.Rand) *faultproxy.Proxy {
	seat := chaosProcesses()[r.IntN(len(chaosProcesses()))]
	if road := w.forgeProxies[seat]; road != nil && r.IntN(2) == 0 {
		return road
	}
	return w.natsProxies[seat]
}

func (w *faultInjector) slow(_ context.Context, r *rand.Rand) int64 {
	p := w.anyProxy(r)
	f := faultproxy.Slow(time.Duration(20+r.IntN(400)) * time.Millisecond)
	if r.IntN(3) == 0 {
		f.Up.Rate, f.Down.Rate = 20_000, 20_000
	}
	p.Set(f)
	w.hold(r, time.Second, 2*chaosLease)
	p.Heal()
	return 1
}

func (w *faultInjector) cut(_ context.Context, r *rand.Rand) int64 {
	p := w.anyProxy(r)
	both, up, down := faultproxy.Cut(), faultproxy.Fault{Up: faultproxy.Way{Cut: true}}, faultproxy.Fault{Down: faultproxy.Way{Cut: true}}
	p.Set([]faultproxy.Fault{both, up, down, {Shut: true}}[r.IntN(4)])
	if r.IntN(2) == 0 {
		p.Reset()
	}
	w.hold(r, chaosLease/2, 2*chaosLease)
	p.Heal()
	return 1
}

func (w *faultInjector) reset(_ context.Context, r *rand.Rand) int64 {
	return w.onActiveProxy(r, (*faultproxy.Proxy).Reset)
}

func (w *faultInjector) halfOpen(_ context.Context, r *rand.Rand) int64 {
	return w.onActiveProxy(r, (*faultproxy.Proxy).Abandon)
}

// some does it to a seat's connections that has some just now.
func (w *faultInjector) onActiveProxy(r *rand.Rand, do func(*faultproxy.Proxy) int) int64 {
	for range 20 {
		if n := do(w.anyProxy(r)); n > 0 {
			return int64(n)
		}
	}
	return 0
}

func (w *faultInjector) slowDisk(_ context.Context, r *rand.Rand) int64 {
	if w.disk == nil {
		return 0
	}
	i := slices.IndexFunc(w.supervisor.processes, func(s *supervised) bool { return s.name == natsName })
	return w.disk.slow(w.supervisor.processes[i].current(), time.Duration(5+r.IntN(40))*time.Millisecond, func() { w.hold(r, time.Second, chaosLease) })
}

func (w *faultInjector) repeatCommands(_ context.Context, r *rand.Rand) int64 {
	return w.recorder.repeat(r, 1+r.IntN(30))
}

func (w *faultInjector) stealDeliveries(ctx context.Context, r *rand.Rand) int64 {
	var all atomic.Int64
	var robbers sync.WaitGroup
	for range 4 { // most roles have nothing to do just now
		role, own := w.anyRole(r), rand.New(rand.NewPCG(r.Uint64(), 0))
		robbers.Go(func() { all.Add(stealDeliveries(ctx, w.js, own, role)) })
	}
	robbers.Wait()
	return all.Load()
}

func (w *faultInjector) rewindDeliveries(ctx context.Context, r *rand.Rand) int64 {
	return rewindConsumer(ctx, w.js, r, w.anyRole(r))
}

// role is any that takes work.
func (w *faultInjector) anyRole(r *rand.Rand) string {
	for {
		switch name := serviceOf(chaosProcesses()[r.IntN(len(chaosProcesses()))]); name {
		case "orchestrator", "gateway", "plan-manager":
		default:
			return name
		}
	}
}
