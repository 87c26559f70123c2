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

	"github.com/signalbox/signalbox/pkg/engine/client"
)

const (
	defaultChaosRuns = 6  // without SIGNALBOX_CHAOS
	chaosConcurrency = 24 // instances open at a time
)

// faultInterval is the average time between two faults.
func faultInterval(runs int) time.Duration {
	if runs > defaultChaosRuns {
		return 600 * time.Millisecond
	}
	return time.Second
}

// TestChaosLosesNothingAndDoublesNothing runs instances of all lifecycles under
// every kind of fault, each service a process. Each instance ends in its state,
// each acknowledged command is in the log once, no two claims overlap, and the
// forge has each effect of the log once.
func TestChaosLosesNothingAndDoublesNothing(t *testing.T) {
	runs, seed := intFromEnv(t, "SIGNALBOX_CHAOS", defaultChaosRuns), uint64(intFromEnv(t, "SIGNALBOX_SEED", int(time.Now().UnixNano()%1e6)))
	t.Logf("SIGNALBOX_CHAOS=%d SIGNALBOX_SEED=%d", runs, seed)
	began := time.Now()
	r := rand.New(rand.NewPCG(seed, 0))
	e := startChaosEnv(t, r)
	defer e.supervisor.stop()
	injector := &faultInjector{chaosEnv: e, recorder: recordCommands(t, e.nc), disk: findSlowDisk(t)}
	people := client.New(e.nc, "operator:ann")
	t.Logf("everything runs after %s", since(began))

	ctx, stopFaults := context.WithCancel(t.Context())
	var injecting sync.WaitGroup
	injecting.Go(func() { injector.run(ctx, t, r, faultInterval(runs)) })
	driven := e.runInstances(t, people, runs, rand.New(rand.NewPCG(seed, 1)))
	stopFaults()
	injecting.Wait()
	e.healAll()
	e.supervisor.stop()
	if t.Failed() {
		return
	}
	e.check(t, injector, driven)
	t.Logf("%d instances in %s, seed %d", len(driven), time.Since(began).Round(time.Second), seed)
}

// runInstances opens and drives instances, several at a time, and returns them when
// all have ended.
func (e *chaosEnv) runInstances(t *testing.T, c *client.Client, runs int, r *rand.Rand) []*drivenInstance {
	t.Helper()
	all := scenarios()
	driven := make([]*drivenInstance, runs)
	type job struct {
		n    int
		kind scenario
	}
	next, began, limit := make(chan job), time.Now(), 2*maxWait
	if runs > defaultChaosRuns {
		limit = 8 * maxWait // long runs are not watched
	}
	var ended atomic.Int64
	var wg sync.WaitGroup
	for range chaosConcurrency {
		wg.Go(func() {
			for j := range next {
				ctx, cancel := context.WithTimeout(t.Context(), limit)
				l, err := e.openInstance(ctx, c, j.n, j.kind)
				if err == nil {
					err = l.driveAll(ctx)
				}
				cancel()
				if done := ended.Add(1); done%50 == 0 {
					t.Logf("%d have ended after %s", done, since(began).Round(time.Second))
				}
				if driven[j.n] = l; err != nil {
					t.Errorf("%s, %s %s: %v\n%s", l.id, l.lifecycle, l.behaviour, err, e.formatHistory(l.id))
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
		next <- job{n, all[n%len(all)]}
	}
	close(next)
	wg.Wait()
	return slices.DeleteFunc(driven, func(l *drivenInstance) bool { return l == nil })
}

// formatHistory returns the events of an instance, newest last.
func (e *chaosEnv) formatHistory(id string) string {
	text := ""
	for _, c := range e.log.commitsOf(id) {
		text += fmt.Sprintf("  %d %s %s:", c.Seq, c.At.Format("15:04:05.000"), c.Actor)
		for _, event := range c.Events {
			text += fmt.Sprintf(" %.300s", fmt.Sprintf("%T%+v", event, event))
		}
		text += "\n"
	}
	return text
}
