package engine_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// inBubble runs a test in a bubble, where time is not spent.
func inBubble(t *testing.T, f func(w *env)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(newEnv(t)) })
}

// visibilityDelay is after what time work is visible in a queue.
const visibilityDelay = 20 * time.Millisecond

// expectSilence expects that agents that wait have no reply by now.
func (e *env) expectSilence(all ...<-chan answer) {
	e.Helper()
	synctest.Wait()
	for i, told := range all {
		if len(told) > 0 {
			e.Fatalf("number %d is told %+v", i, <-told)
		}
	}
}

// expectElapsed expects that so much time has passed since the start.
func (e *env) expectElapsed(start time.Time, want time.Duration) {
	e.Helper()
	if got := time.Since(start); got != want {
		e.Errorf("told after %v, want %v", got, want)
	}
}

func TestWhoWaitsIsToldWhenItsTimeIsOver(t *testing.T) {
	inBubble(t, func(w *env) {
		e, start := w.engine(), time.Now()
		long, short := waits(e, "worker", "w-1", time.Minute), waits(e, "worker", "w-2", time.Second)
		w.expectNoWork(waits(e, "worker", "w-3", 0))
		w.expectElapsed(start, 0)
		w.expectNoWork(short)
		w.expectElapsed(start, time.Second)
		w.expectClaim(long, "w-1", w.do(e, "a", open("a chore"))) // its place is its own
		time.Sleep(time.Hour)
		w.expectSilence(long, short) // once is enough
	})
}

// What is in the queue is older than what is made now.
func TestForEachPieceInTheQueueOneIsSentThere(t *testing.T) {
	inBubble(t, func(w *env) {
		e, start := w.engine(), time.Now()
		early := waits(e, "judge", "j-1", time.Hour)
		a, b := w.do(e, "a", open("a chore")).Instance, w.do(e, "b", open("a chore")).Instance
		first := waits(e, "worker", "w-1", time.Hour)
		w.expectSilence(early, first) // it is not its queue; what is there may be on its way already
		w.expectNoWork(first)
		w.expectElapsed(start, visibilityDelay)
		w.expectNoWork(waits(e, "worker", "w-2", time.Hour))
		third := waits(e, "worker", "w-3", time.Hour)
		w.expectSilence(third)
		a = w.do(e, "a", take("worker", a.Work)).Instance
		b = w.do(e, "b", take("worker", b.Work)).Instance
		fourth := waits(e, "worker", "w-4", time.Hour)
		w.expectSilence(third, fourth)
		w.expectElapsed(start, visibilityDelay)

		// What comes later, too: there nobody waits for work of this engine.
		other := w.engine()
		w.follow(e)
		w.do(other, "c", open("a chore"))
		w.expectSilence(third)
		w.expectNoWork(third)
		w.expectElapsed(start, 2*visibilityDelay)
		w.expectSilence(fourth)
		d := w.expectClaim(fourth, "w-4", w.do(e, "d", open("a chore")))

		// What came back after a fault, or its lease, comes again by itself.
		fifth := waits(e, "worker", "w-5", time.Hour)
		w.do(e, "d", instance.Fail{Token: d.Tokens, Reason: "disk"})
		w.do(e, "a", instance.Fail{Token: a.Tokens, Reason: "disk"})
		w.clock.advance(time.Hour)
		w.expectSilence(fifth)
		w.expectClaim(fifth, "w-5", w.do(e, b.ID, instance.Retry{Reason: "lost"}))
		w.expectElapsed(start, 2*visibilityDelay)
	})
}

// Who was sent may be gone, or slower than another's agents.
func TestForWhatStaysInTheQueueOthersAreSent(t *testing.T) {
	inBubble(t, func(w *env) {
		e := w.engine()
		w.reclaim(e, nil)
		w.do(e, "a", open("a chore"))
		w.expectNoWork(waits(e, "worker", "w-1", time.Hour))
		second := waits(e, "worker", "w-2", time.Hour)
		w.expectSilence(second)
		time.Sleep(2 * time.Second)
		w.expectSilence(second) // it is who comes next that is sent
		w.expectNoWork(waits(e, "worker", "w-3", time.Hour))
		w.expectSilence(second)
	})
}

func TestWhoIsDismissedIsTold(t *testing.T) {
	inBubble(t, func(w *env) {
		e, start := w.engine(), time.Now()
		worker, judge := waits(e, "worker", "w-1", time.Hour), waits(e, "judge", "j-1", time.Hour)
		e.Dismiss()
		w.expectNoWork(worker)
		w.expectNoWork(judge)
		w.expectNoWork(waits(e, "worker", "w-2", time.Hour))
		w.expectElapsed(start, 0)
		if out := w.do(e, "a", open("a chore")); out.Instance.Claim != nil {
			w.Errorf("%+v has it", out.Instance.Claim)
		}
		time.Sleep(2 * time.Hour)
		w.expectSilence(worker, judge)
	})
}

// For work that another engine makes and that is taken again at once, none is sent.
func TestWhatAnotherEngineMakesAndTakesIsCounted(t *testing.T) {
	inBubble(t, func(w *env) {
		e := w.engine()
		told := waits(e, "worker", "w-1", time.Hour)
		other := w.engine()
		w.do(other, "a", open("a chore"))
		w.do(other, "a", take("worker", 1))
		w.follow(e) // the piece came, and was taken
		late := waits(e, "worker", "w-2", time.Hour)
		time.Sleep(2 * visibilityDelay)
		w.expectSilence(told, late)
		w.expectClaim(told, "w-1", w.do(e, "b", open("a chore")))
		w.expectSilence(late)
	})
}

// reclaim runs Reclaim until the test ends.
func (e *env) reclaim(ev *engine.Engine, failed func(error)) {
	if failed == nil {
		failed = func(err error) { e.Error(err) }
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { ev.Reclaim(ctx, failed); close(ended) }()
	e.Cleanup(func() { stop(); <-ended })
}
