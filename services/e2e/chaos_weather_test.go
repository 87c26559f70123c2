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
type weather struct {
	*town
	echo   *echo
	disk   *slowDisk // nil: it cannot be slowed down here
	wg     sync.WaitGroup
	counts map[string]*atomic.Int64 // by kind
}

// calamity is one kind of fault; it returns how many it made.
type calamity struct {
	name string
	make func(w *weather, ctx context.Context, r *rand.Rand) int64
}

func calamities() []calamity {
	return []calamity{
		{"kills", (*weather).kill}, {"pauses", (*weather).pause}, {"slow connections", (*weather).slow}, {"cuts", (*weather).cut},
		{"resets", (*weather).reset}, {"half-open connections", (*weather).abandon}, {"slow disks", (*weather).grind}, {"repeated commands", (*weather).repeat},
		{"stolen deliveries", (*weather).rob}, {"rewound deliveries", (*weather).rewind},
	}
}

// brew makes faults until ctx ends, every kind at least once, about one in each
// pause. It returns when all it began has ended.
func (w *weather) brew(ctx context.Context, t *testing.T, r *rand.Rand, pause time.Duration) {
	t.Helper()
	all := calamities()
	for range 2 {
		all = append(all, calamities()[0]) // more kills than anything
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
		w.wg.Go(func() { w.counts[c.name].Add(c.make(w, context.WithoutCancel(ctx), own)) })
	}
}

// seat is any.
func (w *weather) seat(r *rand.Rand) *seat { return w.super.seats[r.IntN(len(w.super.seats))] }

// wait is how long a fault lasts: often longer than a lease.
func (w *weather) wait(r *rand.Rand, least, most time.Duration) {
	<-time.After(least + time.Duration(r.Int64N(int64(most-least))))
}

func (w *weather) kill(_ context.Context, r *rand.Rand) int64 {
	victims := []*seat{w.seat(r)}
	if r.IntN(3) == 0 {
		victims = append(victims, w.seat(r), w.seat(r))
	}
	for _, s := range victims {
		s.kill()
	}
	return int64(len(victims))
}

func (w *weather) pause(_ context.Context, r *rand.Rand) int64 {
	p := w.seat(r).sitting()
	p.signal(syscall.SIGSTOP)
	w.wait(r, leaseInChaos/2, 2*leaseInChaos)
	p.signal(syscall.SIGCONT)
	return 1
}

// line is a connection of some seat, to the server or to the forge.
func (w *weather) line(r *rand.Rand) *faultproxy.Proxy {
	seat := staff()[r.IntN(len(staff()))]
	if road := w.roads[seat]; road != nil && r.IntN(2) == 0 {
		return road
	}
	return w.lines[seat]
}

func (w *weather) slow(_ context.Context, r *rand.Rand) int64 {
	p := w.line(r)
	f := faultproxy.Slow(time.Duration(20+r.IntN(400)) * time.Millisecond)
	if r.IntN(3) == 0 {
		f.Up.Rate, f.Down.Rate = 20_000, 20_000
	}
	p.Set(f)
	w.wait(r, time.Second, 2*leaseInChaos)
	p.Heal()
	return 1
}

func (w *weather) cut(_ context.Context, r *rand.Rand) int64 {
	p := w.line(r)
	both, up, down := faultproxy.Cut(), faultproxy.Fault{Up: faultproxy.Way{Cut: true}}, faultproxy.Fault{Down: faultproxy.Way{Cut: true}}
	p.Set([]faultproxy.Fault{both, up, down, {Shut: true}}[r.IntN(4)])
	if r.IntN(2) == 0 {
		p.Reset()
	}
	w.wait(r, leaseInChaos/2, 2*leaseInChaos)
	p.Heal()
	return 1
}

func (w *weather) reset(_ context.Context, r *rand.Rand) int64 {
	return w.some(r, (*faultproxy.Proxy).Reset)
}

func (w *weather) abandon(_ context.Context, r *rand.Rand) int64 {
	return w.some(r, (*faultproxy.Proxy).Abandon)
}

// some does it to a seat's connections that has some just now.
func (w *weather) some(r *rand.Rand, do func(*faultproxy.Proxy) int) int64 {
	for range 20 {
		if n := do(w.line(r)); n > 0 {
			return int64(n)
		}
	}
	return 0
}

func (w *weather) grind(_ context.Context, r *rand.Rand) int64 {
	if w.disk == nil {
		return 0
	}
	i := slices.IndexFunc(w.super.seats, func(s *seat) bool { return s.name == natsName })
	return w.disk.slow(w.super.seats[i].sitting(), time.Duration(5+r.IntN(40))*time.Millisecond, func() { w.wait(r, time.Second, leaseInChaos) })
}

func (w *weather) repeat(_ context.Context, r *rand.Rand) int64 {
	return w.echo.repeat(r, 1+r.IntN(30))
}

func (w *weather) rob(ctx context.Context, r *rand.Rand) int64 {
	var all atomic.Int64
	var robbers sync.WaitGroup
	for range 4 { // most roles have nothing to do just now
		role, own := w.role(r), rand.New(rand.NewPCG(r.Uint64(), 0))
		robbers.Go(func() { all.Add(rob(ctx, w.js, own, role)) })
	}
	robbers.Wait()
	return all.Load()
}

func (w *weather) rewind(ctx context.Context, r *rand.Rand) int64 {
	return rewind(ctx, w.js, r, w.role(r))
}

// role is any that takes work.
func (w *weather) role(r *rand.Rand) string {
	for {
		switch name := trade(staff()[r.IntN(len(staff()))]); name {
		case "orchestrator", "gateway", "plan-manager":
		default:
			return name
		}
	}
}
