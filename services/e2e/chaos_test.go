package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/client"
)

const (
	defaultChaosRuns = 6  // without SIGNALBOX_CHAOS
	chaosConcurrency = 24 // instances under way at a time
)

// gust is the time between two faults, on the average.
func faultInterval(runs int) time.Duration {
	if runs > defaultChaosRuns {
		return 600 * time.Millisecond
	}
	return time.Second
}

// Instances of all lifecycles, everybody a process of its own, and every fault
// that there is: each ends as it has to, every command that was answered is in
// the log once, nobody works where another does, and what is on the forge is
// what the log says, each effect once.
func TestChaosLosesNothingAndDoublesNothing(t *testing.T) {
	runs, seed := intFromEnv(t, "SIGNALBOX_CHAOS", defaultChaosRuns), uint64(intFromEnv(t, "SIGNALBOX_SEED", int(time.Now().UnixNano()%1e6)))
	t.Logf("SIGNALBOX_CHAOS=%d SIGNALBOX_SEED=%d", runs, seed)
	began := time.Now()
	r := rand.New(rand.NewPCG(seed, 0))
	w := startChaosEnv(t, r)
	defer w.supervisor.stop()
	storm := &faultInjector{chaosEnv: w, recorder: recordCommands(t, w.nc), disk: findSlowDisk(t)}
	people := client.New(w.nc, "operator:ann")
	t.Logf("everything runs after %s", since(began))

	ctx, calm := context.WithCancel(t.Context())
	var blowing sync.WaitGroup
	blowing.Go(func() { storm.run(ctx, t, r, faultInterval(runs)) })
	lives := w.runInstances(t, people, runs, rand.New(rand.NewPCG(seed, 1)))
	calm()
	blowing.Wait()
	w.healAll()
	w.supervisor.stop()
	if t.Failed() {
		return
	}
	w.check(t, storm, lives)
	t.Logf("%d instances in %s, seed %d", len(lives), time.Since(began).Round(time.Second), seed)
}

// populate has so many instances live, several at a time, and returns them when
// all have ended.
func (w *chaosEnv) runInstances(t *testing.T, c *client.Client, runs int, r *rand.Rand) []*drivenInstance {
	t.Helper()
	all := scenarios()
	lives := make([]*drivenInstance, runs)
	type birth struct {
		n    int
		kind scenario
	}
	next, began, most := make(chan birth), time.Now(), 2*maxWait
	if runs > defaultChaosRuns {
		most = 8 * maxWait // nobody waits for it
	}
	var ended atomic.Int64
	var wg sync.WaitGroup
	for range chaosConcurrency {
		wg.Go(func() {
			for b := range next {
				ctx, cancel := context.WithTimeout(t.Context(), most)
				l, err := w.openInstance(ctx, c, b.n, b.kind)
				if err == nil {
					err = l.driveAll(ctx)
				}
				cancel()
				if done := ended.Add(1); done%50 == 0 {
					t.Logf("%d have ended after %s", done, since(began).Round(time.Second))
				}
				if lives[b.n] = l; err != nil {
					t.Errorf("%s, %s %s: %v\n%s", l.id, l.lifecycle, l.behaviour, err, w.formatHistory(l.id))
				}
			}
		})
	}
	for n := range runs {
		if n%len(all) == 0 && n > 0 {
			r.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
		}
		if t.Failed() {
			break
		}
		if end, limited := t.Deadline(); limited && n > defaultChaosRuns && time.Until(end) < 6*maxWait {
			t.Logf("there is no time for more than %d of %d: -timeout=0 is without an end", n, runs)
			break
		}
		next <- birth{n, all[n%len(all)]}
	}
	close(next)
	wg.Wait()
	return slices.DeleteFunc(lives, func(l *drivenInstance) bool { return l == nil })
}

// past is what happened to an instance, newest last.
func (w *chaosEnv) formatHistory(id string) string {
	text := ""
	for _, c := range w.log.commitsOf(id) {
		text += fmt.Sprintf("  %d %s %s:", c.Seq, c.At.Format("15:04:05.000"), c.Actor)
		for _, e := range c.Events {
			text += fmt.Sprintf(" %.300s", fmt.Sprintf("%T%+v", e, e))
		}
		text += "\n"
	}
	return text
}
