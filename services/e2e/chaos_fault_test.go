package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/testkit/faultproxy"
)

// faultInjector injects faults of all kinds, several at a time.
type faultInjector struct {
	*chaosEnv
	recorder *commandRecorder
	disk     *slowDisk // nil: not available here
	wg       sync.WaitGroup
	counts   map[string]*atomic.Int64 // by kind
}

// fault is one kind of fault. inject returns how many it injected.
type fault struct {
	name   string
	inject func(w *faultInjector, ctx context.Context, r *rand.Rand) int64
}

func faults() []fault {
	return []fault{
		{"kills", (*faultInjector).kill}, {"pauses", (*faultInjector).pause}, {"slow connections", (*faultInjector).slow},
		{"cuts", (*faultInjector).cut},
		{"resets", (*faultInjector).reset}, {"half-open connections", (*faultInjector).halfOpen}, {"slow disks", (*faultInjector).slowDisk},
		{"repeated commands", (*faultInjector).repeatCommands},
		{"stolen deliveries", (*faultInjector).stealDeliveries}, {"rewound deliveries", (*faultInjector).rewindDeliveries},
	}
}

// run injects faults until ctx ends: every kind at least once, on average one in
// each pause. It returns when all injected faults have ended.
func (w *faultInjector) run(ctx context.Context, t *testing.T, r *rand.Rand, pause time.Duration) {
	t.Helper()
	all := faults()
	for range 2 {
		all = append(all, faults()[0]) // kills are more frequent than any other
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

// anyProcess draws a process.
func (w *faultInjector) anyProcess(r *rand.Rand) *supervised {
	return w.supervisor.processes[r.IntN(len(w.supervisor.processes))]
}

// hold waits for the duration of a fault, which is often longer than a lease.
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

// anyProxy draws a connection, to the nats-server or to the forge.
func (w *faultInjector) anyProxy(r *rand.Rand) *faultproxy.Proxy {
	name := chaosProcesses()[r.IntN(len(chaosProcesses()))]
	if proxy := w.forgeProxies[name]; proxy != nil && r.IntN(2) == 0 {
		return proxy
	}
	return w.natsProxies[name]
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

// onActiveProxy calls do on proxies until one has connections, and returns their
// number.
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
	return w.disk.slow(w.supervisor.processes[i].current(), time.Duration(5+r.IntN(40))*time.Millisecond,
		func() { w.hold(r, time.Second, chaosLease) })
}

func (w *faultInjector) repeatCommands(_ context.Context, r *rand.Rand) int64 {
	return w.recorder.repeat(r, 1+r.IntN(30))
}

func (w *faultInjector) stealDeliveries(ctx context.Context, r *rand.Rand) int64 {
	var all atomic.Int64
	var wg sync.WaitGroup
	for round := 0; round < 5 && all.Load() == 0; round++ {
		for range 4 { // most roles have no work just now
			role, own := w.anyRole(r), rand.New(rand.NewPCG(r.Uint64(), 0))
			wg.Go(func() { all.Add(stealDeliveries(ctx, w.js, own, role)) })
		}
		wg.Wait()
	}
	return all.Load()
}

func (w *faultInjector) rewindDeliveries(ctx context.Context, r *rand.Rand) int64 {
	return rewindConsumer(ctx, w.js, r, w.anyRole(r))
}

// anyRole draws a role that has a work queue.
func (w *faultInjector) anyRole(r *rand.Rand) string {
	for {
		switch name := serviceOf(chaosProcesses()[r.IntN(len(chaosProcesses()))]); name {
		case "orchestrator", "gateway", "plan-manager":
		default:
			return name
		}
	}
}

// slowDisk delays the file writes of a process by tracing its system calls.
type slowDisk struct{ strace string }

// findSlowDisk returns nil, and logs why, where processes cannot be traced.
func findSlowDisk(t *testing.T) *slowDisk {
	t.Helper()
	strace, err := exec.LookPath("strace")
	if err == nil {
		var out []byte
		if out, err = exec.Command(strace, "-f", "-qq", "-o", os.DevNull, "-e", "trace=fsync", "-e", "inject=fsync:delay_enter=1",
			"true").CombinedOutput(); err != nil {
			err = fmt.Errorf("%w: %s", err, out)
		}
	}
	if err != nil {
		t.Logf("no slow disks: strace does not work here: %v", err)
		return nil
	}
	return &slowDisk{strace}
}

// slow delays every write and flush of the process until the fault is over. It
// returns the number of faults, 0 or 1.
func (d *slowDisk) slow(p *process, by time.Duration, until func()) int64 {
	const calls = "pwrite64,pwritev,fsync,fdatasync,openat,ftruncate"
	trace := exec.Command(d.strace, "-f", "-qq", "-o", os.DevNull, "-p", strconv.Itoa(p.cmd.Process.Pid),
		"-e", "trace="+calls, "-e", fmt.Sprintf("inject=%s:delay_enter=%d", calls, by.Microseconds()))
	if trace.Start() != nil {
		return 0
	}
	until()
	_ = trace.Process.Signal(os.Interrupt) // it detaches
	// If the process was killed meanwhile, strace waits for its last thread for ever,
	// and that thread for strace.
	held := time.AfterFunc(2*time.Second, func() { _ = trace.Process.Kill() })
	defer held.Stop()
	_ = trace.Wait()
	if trace.ProcessState.ExitCode() == 1 {
		return 0 // the process had just been killed
	}
	return 1
}

// stealDeliveries fetches work messages of a role and naks them late, out of order,
// or not at all. It returns how many.
func stealDeliveries(ctx context.Context, js jetstream.JetStream, r *rand.Rand, role string) int64 {
	all := fetchDeliveries(ctx, js, role, 1+r.IntN(5))
	if all == nil && rewindConsumer(ctx, js, r, role) > 0 {
		all = fetchDeliveries(ctx, js, role, 1+r.IntN(5))
	}
	r.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
	for _, m := range all {
		switch r.IntN(3) {
		case 0:
			_ = m.Nak()
		case 1:
			_ = m.NakWithDelay(rand.N(chaosLease))
		}
	}
	return int64(len(all))
}

// fetchDeliveries fetches up to n messages of a role.
func fetchDeliveries(ctx context.Context, js jetstream.JetStream, role string, n int) (all []jetstream.Msg) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	consumer, err := js.Consumer(ctx, subject.EventStream, role)
	if err != nil {
		return nil
	}
	batch, err := consumer.Fetch(n, jetstream.FetchContext(ctx))
	if err != nil {
		return nil
	}
	for m := range batch.Messages() {
		all = append(all, m)
	}
	return all
}

// rewindConsumer resets the consumer of a role to an earlier acknowledged message.
// It never skips an unacknowledged one.
func rewindConsumer(ctx context.Context, js jetstream.JetStream, r *rand.Rand, role string) int64 {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	consumer, err := js.Consumer(ctx, subject.EventStream, role)
	if err != nil {
		return 0
	}
	floor := consumer.CachedInfo().AckFloor.Stream
	if _, err := js.ResetConsumerToSequence(ctx, subject.EventStream, role, floor-r.Uint64N(min(floor, 300)+1)+1); err != nil {
		return 0
	}
	return 1
}
