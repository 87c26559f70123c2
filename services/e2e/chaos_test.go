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
	chaosRuns  = 6  // without SIGNALBOX_CHAOS
	chaosLanes = 24 // instances under way at a time
)

// gust is the time between two faults, on the average.
func gust(runs int) time.Duration {
	if runs > chaosRuns {
		return 600 * time.Millisecond
	}
	return time.Second
}

// Instances of all lifecycles, everybody a process of its own, and every fault
// that there is: each ends as it has to, every command that was answered is in
// the log once, nobody works where another does, and what is on the forge is
// what the log says, each effect once.
func TestChaosLosesNothingAndDoublesNothing(t *testing.T) {
	runs, seed := number(t, "SIGNALBOX_CHAOS", chaosRuns), uint64(number(t, "SIGNALBOX_SEED", int(time.Now().UnixNano()%1e6)))
	t.Logf("SIGNALBOX_CHAOS=%d SIGNALBOX_SEED=%d", runs, seed)
	began := time.Now()
	r := rand.New(rand.NewPCG(seed, 0))
	w := found(t, r)
	defer w.super.stop()
	storm := &weather{town: w, echo: listen(t, w.nc), disk: findSlowDisk(t)}
	people := client.New(w.nc, "operator:ann")
	t.Logf("everything runs after %s", since(began))

	ctx, calm := context.WithCancel(t.Context())
	var blowing sync.WaitGroup
	blowing.Go(func() { storm.brew(ctx, t, r, gust(runs)) })
	lives := w.populate(t, people, runs, rand.New(rand.NewPCG(seed, 1)))
	calm()
	blowing.Wait()
	w.heal()
	w.super.stop()
	if t.Failed() {
		return
	}
	w.judge(t, storm, lives)
	t.Logf("%d instances in %s, seed %d", len(lives), time.Since(began).Round(time.Second), seed)
}

// populate has so many instances live, several at a time, and returns them when
// all have ended.
func (w *town) populate(t *testing.T, c *client.Client, runs int, r *rand.Rand) []*life {
	t.Helper()
	all := kinds()
	lives := make([]*life, runs)
	type birth struct {
		n    int
		kind kind
	}
	next, began, most := make(chan birth), time.Now(), 2*patience
	if runs > chaosRuns {
		most = 8 * patience // nobody waits for it
	}
	var ended atomic.Int64
	var wg sync.WaitGroup
	for range chaosLanes {
		wg.Go(func() {
			for b := range next {
				ctx, cancel := context.WithTimeout(t.Context(), most)
				l, err := w.begin(ctx, c, b.n, b.kind)
				if err == nil {
					err = l.live(ctx)
				}
				cancel()
				if done := ended.Add(1); done%50 == 0 {
					t.Logf("%d have ended after %s", done, since(began).Round(time.Second))
				}
				if lives[b.n] = l; err != nil {
					t.Errorf("%s, %s %s: %v\n%s", l.id, l.lifecycle, l.word, err, w.past(l.id))
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
		if end, limited := t.Deadline(); limited && n > chaosRuns && time.Until(end) < 6*patience {
			t.Logf("there is no time for more than %d of %d: -timeout=0 is without an end", n, runs)
			break
		}
		next <- birth{n, all[n%len(all)]}
	}
	close(next)
	wg.Wait()
	return slices.DeleteFunc(lives, func(l *life) bool { return l == nil })
}

// past is what happened to an instance, newest last.
func (w *town) past(id string) string {
	text := ""
	for _, c := range w.log.of(id) {
		text += fmt.Sprintf("  %d %s %s:", c.Seq, c.At.Format("15:04:05.000"), c.Actor)
		for _, e := range c.Events {
			text += fmt.Sprintf(" %.300s", fmt.Sprintf("%T%+v", e, e))
		}
		text += "\n"
	}
	return text
}
