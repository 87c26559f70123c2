package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/wire"
)

// reclaimDelay is more than what passes until an engine has looked for what lapsed.
const reclaimDelay = 200 * time.Millisecond

// withRunningClock gives an engine a clock that runs.
func withRunningClock(c *engine.Config) { c.Now = time.Now }

// openDirect opens an instance whose work a worker is given directly, for a minute.
func (e *env) openDirect(ev *engine.Engine, id string) instance.Instance {
	e.Helper()
	told := waits(ev, "worker", "w-1", time.Hour)
	e.do(ev, id, open("a chore"))
	return (<-told).Instance
}

// expectLapse expects that the newest commit has that number and dispatches the work to its queue.
func (e *env) expectLapse(id string, number int, reason string) uint64 {
	e.Helper()
	all := e.commits(id)
	last, err := wire.ToCommit(all[len(all)-1])
	if err != nil {
		e.Fatal(err)
	}
	got, is := last.Events[0].(instance.Dispatched)
	if !is || len(last.Events) > 1 || len(all) != number || got.Reason != reason || !all[number-1].Wakes || !strings.HasPrefix(last.ID, "lapse-") {
		e.Fatalf("commit %d of %s is %+v, wakes %v; want %d to say that %s", len(all), id, last, all[len(all)-1].Wakes, number, reason)
	}
	return last.Seq
}

// expectCommits expects that an instance has so many commits after a time.
func (e *env) expectCommits(id string, commits int, so time.Duration) {
	e.Helper()
	time.Sleep(so)
	synctest.Wait()
	if n := len(e.commits(id)); n != commits {
		e.Fatalf("it has %d commits, want %d", n, commits)
	}
}

func TestWorkThatWasLostWithItsAgentGoesToTheQueue(t *testing.T) {
	inBubble(t, func(w *env) {
		e := w.engine(withRunningClock)
		w.reclaim(e, nil)
		in := w.openDirect(e, "a")
		w.expectCommits("a", 1, time.Minute-reclaimDelay)
		w.do(e, "a", instance.Heartbeat{Token: in.Tokens, Lease: time.Minute})
		w.expectCommits("a", 2, time.Minute-reclaimDelay)
		late := waits(e, "worker", "w-2", time.Hour)
		time.Sleep(2 * reclaimDelay)
		work := w.expectLapse("a", 3, "the lease of w-1 ran out")
		w.expectNoWork(late) // not given it: whoever loses it with its agent, loses it once
		w.refused(e, cmd("late", "a", done(in.Tokens)), instance.CodeLapsed)
		in = w.do(e, "a", take("worker", work)).Instance
		w.expectCommits("a", 4, time.Hour) // from now on the queue brings it again
		if in.Direct {
			w.Error("it is said to be in no queue")
		}
		w.checkLog()
	})
}

func TestWorkThatWasGivenBackGoesToTheQueueWhenItHasRested(t *testing.T) {
	inBubble(t, func(w *env) {
		e := w.engine(withRunningClock)
		w.reclaim(e, nil)
		in := w.openDirect(e, "a")
		w.do(e, "a", instance.Fail{Token: in.Tokens, Reason: "disk"})
		w.expectCommits("a", 2, time.Second-reclaimDelay)
		time.Sleep(2 * reclaimDelay)
		w.expectLapse("a", 3, "it was given back")
		w.expectCommits("a", 3, time.Hour)
		w.checkLog()
	})
}

func TestWhatWaitsForSomebodyElseDoesNotLapse(t *testing.T) {
	for name, do := range map[string]func(token uint64) instance.Action{
		"paused":    func(uint64) instance.Action { return instance.Pause{} },
		"cancelled": func(uint64) instance.Action { return instance.Cancel{} },
		"held": func(token uint64) instance.Action {
			return instance.Escalate{Token: token, Reason: "stuck", RequiresHuman: true}
		},
		"parked": func(token uint64) instance.Action {
			return instance.Report{Token: token, Result: instance.Result{Status: instance.Blocked}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *env) {
				w.define(strings.Replace(chore, "decide: [{", "decide: [{when: \"result.status == 'blocked'\", stay: 1h}, {", 1))
				e := w.engine(withRunningClock)
				w.reclaim(e, nil)
				if out := w.do(e, "a", do(w.openDirect(e, "a").Tokens)); !out.Instance.Direct || out.Instance.Claim != nil {
					w.Fatal("this proves nothing: it is in a queue, or held")
				}
				w.expectCommits("a", 2, time.Hour)
			})
		})
	}
}

func TestOfManyEnginesOneGivesWhatLapsed(t *testing.T) {
	inBubble(t, func(w *env) {
		one := w.engine(withRunningClock)
		in := w.openDirect(one, "a")
		all := []*engine.Engine{one, w.engine(withRunningClock), w.engine(withRunningClock)} // two of which read of it
		for _, e := range all {
			w.follow(e)
			w.reclaim(e, nil)
		}
		w.expectCommits("a", 1, time.Minute-reclaimDelay)
		time.Sleep(2 * reclaimDelay)
		work := w.expectLapse("a", 2, "the lease of w-1 ran out")
		w.expectCommits("a", 2, time.Minute)
		for _, e := range all {
			w.refused(e, cmd("late", "a", done(in.Tokens)), instance.CodeLapsed)
			w.checkFold(e, w.do(e, "a", instance.Note{Text: "hm"}).Instance)
		}
		w.do(all[1], "a", take("worker", work))
		w.checkLog()
	})
}

// Who waited is told that it has nothing, and the log says that it has.
func TestWorkWhoseAgentWasNotToldIsNotLost(t *testing.T) {
	inBubble(t, func(w *env) {
		log, lost := w.store, errors.New("the answer is lost")
		store := &faulty{Store: log, append: func(ctx context.Context, c eventstore.Commit) (uint64, error) {
			if _, err := log.Append(ctx, c); err != nil || !strings.HasPrefix(c.ID, "open") {
				return c.Prev + 1, err
			}
			return 0, lost
		}}
		e := w.engine(withRunningClock, func(c *engine.Config) { c.Store = store })
		w.follow(e)
		w.reclaim(e, nil)
		told := waits(e, "worker", "w-1", time.Hour)
		if _, err := e.Handle(w.Context(), cmd("open", "a", open("a chore")), "chore"); !errors.Is(err, lost) {
			w.Fatalf("answered %v", err)
		}
		if a := <-told; !errors.Is(a.err, lost) {
			w.Errorf("told %+v", a)
		}
		w.expectCommits("a", 1, time.Minute-reclaimDelay)
		time.Sleep(2 * reclaimDelay)
		w.expectLapse("a", 2, "the lease of w-1 ran out")
		w.checkLog()
	})
}

func TestWhatCouldNotBeGivenIsTriedAgain(t *testing.T) {
	inBubble(t, func(w *env) {
		log, away, tries := w.store, errors.New("the log is away"), 0
		store := &faulty{Store: log}
		e := w.engine(withRunningClock, func(c *engine.Config) { c.Store = store })
		w.openDirect(e, "a")
		store.append = func(ctx context.Context, c eventstore.Commit) (uint64, error) {
			if tries++; tries < 4 {
				return 0, away
			}
			return log.Append(ctx, c)
		}
		failed := 0
		w.reclaim(e, func(err error) {
			if failed++; !errors.Is(err, away) {
				w.Errorf("failed with %v", err)
			}
		})
		time.Sleep(time.Minute + 4*reclaimDelay)
		w.expectLapse("a", 2, "the lease of w-1 ran out")
		if failed != 3 {
			w.Errorf("told of %d failures", failed)
		}
	})
}
