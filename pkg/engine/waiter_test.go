package engine_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/instance"
)

// In a bubble time is not spent: what has to be told in no time is, by then.
func inNoTime(t *testing.T, f func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(newWorld(t)) })
}

// lies is after what time work lies in a queue.
const lies = 20 * time.Millisecond

// stay has those who wait be told nothing by now.
func (w *world) stay(all ...<-chan answer) {
	w.Helper()
	synctest.Wait()
	for i, told := range all {
		if len(told) > 0 {
			w.Fatalf("number %d is told %+v", i, <-told)
		}
	}
}

// at has it be so much after the start.
func (w *world) at(start time.Time, want time.Duration) {
	w.Helper()
	if got := time.Since(start); got != want {
		w.Errorf("told after %v, want %v", got, want)
	}
}

func TestWhoWaitsIsToldWhenItsTimeIsOver(t *testing.T) {
	inNoTime(t, func(w *world) {
		e, start := w.engine(), time.Now()
		long, short := waits(e, "worker", "w-1", time.Minute), waits(e, "worker", "w-2", time.Second)
		w.sent(waits(e, "worker", "w-3", 0))
		w.at(start, 0)
		w.sent(short)
		w.at(start, time.Second)
		w.gets(long, "w-1", w.do(e, "a", open("a chore"))) // its place is its own
		time.Sleep(time.Hour)
		w.stay(long, short) // once is enough
	})
}

// What is in the queue is older than what is made now.
func TestForEachPieceInTheQueueOneIsSentThere(t *testing.T) {
	inNoTime(t, func(w *world) {
		e, start := w.engine(), time.Now()
		early := waits(e, "judge", "j-1", time.Hour)
		a, b := w.do(e, "a", open("a chore")).Instance, w.do(e, "b", open("a chore")).Instance
		first := waits(e, "worker", "w-1", time.Hour)
		w.stay(early, first) // it is not its queue; what is there may be on its way already
		w.sent(first)
		w.at(start, lies)
		w.sent(waits(e, "worker", "w-2", time.Hour))
		third := waits(e, "worker", "w-3", time.Hour)
		w.stay(third)
		a = w.do(e, "a", take("worker", a.Work)).Instance
		b = w.do(e, "b", take("worker", b.Work)).Instance
		fourth := waits(e, "worker", "w-4", time.Hour)
		w.stay(third, fourth)
		w.at(start, lies)

		// What comes later, too: there nobody waits for work of this engine.
		other := w.engine()
		w.follow(e)
		w.do(other, "c", open("a chore"))
		w.stay(third)
		w.sent(third)
		w.at(start, 2*lies)
		w.stay(fourth)
		d := w.gets(fourth, "w-4", w.do(e, "d", open("a chore")))

		// What came back after a fault, or its lease, comes again by itself.
		fifth := waits(e, "worker", "w-5", time.Hour)
		w.do(e, "d", instance.Fail{Token: d.Tokens, Reason: "disk"})
		w.do(e, "a", instance.Fail{Token: a.Tokens, Reason: "disk"})
		w.clock.turn(time.Hour)
		w.stay(fifth)
		w.gets(fifth, "w-5", w.do(e, b.ID, instance.Retry{Reason: "lost"}))
		w.at(start, 2*lies)
	})
}

// Who was sent may be gone, or slower than another's agents.
func TestForWhatStaysInTheQueueOthersAreSent(t *testing.T) {
	inNoTime(t, func(w *world) {
		e := w.engine()
		w.reclaim(e, nil)
		w.do(e, "a", open("a chore"))
		w.sent(waits(e, "worker", "w-1", time.Hour))
		second := waits(e, "worker", "w-2", time.Hour)
		w.stay(second)
		time.Sleep(2 * time.Second)
		w.stay(second) // it is who comes next that is sent
		w.sent(waits(e, "worker", "w-3", time.Hour))
		w.stay(second)
	})
}

func TestWhoIsDismissedIsTold(t *testing.T) {
	inNoTime(t, func(w *world) {
		e, start := w.engine(), time.Now()
		worker, judge := waits(e, "worker", "w-1", time.Hour), waits(e, "judge", "j-1", time.Hour)
		e.Dismiss()
		w.sent(worker)
		w.sent(judge)
		w.sent(waits(e, "worker", "w-2", time.Hour))
		w.at(start, 0)
		if out := w.do(e, "a", open("a chore")); out.Instance.Claim != nil {
			w.Errorf("%+v has it", out.Instance.Claim)
		}
		time.Sleep(2 * time.Hour)
		w.stay(worker, judge)
	})
}

// For work that another engine makes and that is taken again at once, none is sent.
func TestWhatAnotherEngineMakesAndTakesIsCounted(t *testing.T) {
	inNoTime(t, func(w *world) {
		e := w.engine()
		told := waits(e, "worker", "w-1", time.Hour)
		other := w.engine()
		w.do(other, "a", open("a chore"))
		w.do(other, "a", take("worker", 1))
		w.follow(e) // the piece came, and was taken
		late := waits(e, "worker", "w-2", time.Hour)
		time.Sleep(2 * lies)
		w.stay(told, late)
		w.gets(told, "w-1", w.do(e, "b", open("a chore")))
		w.stay(late)
	})
}

// reclaim has e give to its queue what lapses, until the test ends.
func (w *world) reclaim(e *engine.Engine, failed func(error)) {
	if failed == nil {
		failed = func(err error) { w.Error(err) }
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { e.Reclaim(ctx, failed); close(ended) }()
	w.Cleanup(func() { stop(); <-ended })
}
