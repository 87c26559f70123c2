package engine_test

import (
	"testing"
	"time"

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
