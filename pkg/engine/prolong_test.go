package engine_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

func TestLeasesThatEndedWhileNoEngineRanAreProlonged(t *testing.T) {
	inBubble(t, func(w *env) {
		before := w.engine(withRunningClock)
		w.follow(before)
		dead := w.openDirect(before, "dead") // its agent died while an engine ran
		time.Sleep(2 * time.Minute)
		alive := w.openDirect(before, "alive")
		last := time.Now()

		time.Sleep(5 * time.Minute) // no engine runs
		after := w.engine(withRunningClock)
		w.follow(after)
		if n, err := after.Prolong(w.Context(), last, time.Minute); n != 1 || err != nil {
			t.Fatalf("%d leases are prolonged, %v", n, err)
		}
		w.reclaim(after, nil)
		time.Sleep(time.Minute - reclaimDelay)
		w.refused(after, cmd("late", "dead", done(dead.Tokens)), instance.CodeLapsed)
		w.do(after, "alive", done(alive.Tokens)) // its report counts, and nobody else had the work
		w.checkLog()
	})
}

// The process of the engine was stopped, or NATS was away.
func TestLeasesThatEndedWhileAnEngineWasAbsentAreProlonged(t *testing.T) {
	for name, first := range map[string]func(w *env, e *engine.Engine){
		"a heartbeat is first": func(*env, *engine.Engine) {},
		"the look for lapsed leases is first": func(w *env, _ *engine.Engine) {
			time.Sleep(reclaimDelay)
			synctest.Wait()
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *env) {
				var absent atomic.Bool
				e := w.engine(withRunningClock, func(c *engine.Config) {
					c.Lease, c.Reachable = time.Minute, func() bool { return !absent.Load() }
				})
				w.follow(e)
				w.reclaim(e, nil)
				alive := w.openDirect(e, "alive")
				time.Sleep(reclaimDelay)
				absent.Store(true)
				w.expectCommits("alive", 1, 4*time.Minute)
				absent.Store(false)
				first(w, e)
				w.do(e, "alive", instance.Heartbeat{Token: alive.Tokens, Lease: time.Minute})
				w.expectCommits("alive", 3, time.Minute-reclaimDelay) // prolonged, and extended
				w.expectCommits("alive", 4, 2*reclaimDelay)           // an agent that is silent loses it as ever
				w.checkLog()
			})
		})
	}
}
