package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/eventstore"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/wire"
)

// look is more than what passes until an engine has looked for what lapsed.
const look = 200 * time.Millisecond

// ticking makes of an engine one whose clock goes.
func ticking(c *engine.Config) { c.Now = time.Now }

// direct has a worker be given a new instance directly, for a minute.
func (w *world) direct(e *engine.Engine, id string) instance.Instance {
	w.Helper()
	told := waits(e, "worker", "w-1", time.Hour)
	w.do(e, id, open("a chore"))
	return (<-told).Instance
}

// lapsed has the newest commit give the work to its queue, and be its number.
func (w *world) lapsed(id string, number int, reason string) uint64 {
	w.Helper()
	all := w.commits(id)
	last, err := wire.ToCommit(all[len(all)-1])
	if err != nil {
		w.Fatal(err)
	}
	got, is := last.Events[0].(instance.Dispatched)
	if !is || len(last.Events) > 1 || len(all) != number || got.Reason != reason || !all[number-1].Wakes || !strings.HasPrefix(last.ID, "lapse-") {
		w.Fatalf("commit %d of %s is %+v, wakes %v; want %d to say that %s", len(all), id, last, all[len(all)-1].Wakes, number, reason)
	}
	return last.Seq
}

// quiet has nothing happen to an instance that has so many commits.
func (w *world) quiet(id string, commits int, so time.Duration) {
	w.Helper()
	time.Sleep(so)
	synctest.Wait()
	if n := len(w.commits(id)); n != commits {
		w.Fatalf("it has %d commits, want %d", n, commits)
	}
}

func TestWorkThatWasLostWithItsAgentGoesToTheQueue(t *testing.T) {
	inNoTime(t, func(w *world) {
		e := w.engine(ticking)
		w.reclaim(e, nil)
		in := w.direct(e, "a")
		w.quiet("a", 1, time.Minute-look)
		w.do(e, "a", instance.Heartbeat{Token: in.Tokens, Lease: time.Minute})
		w.quiet("a", 2, time.Minute-look)
		late := waits(e, "worker", "w-2", time.Hour)
		time.Sleep(2 * look)
		work := w.lapsed("a", 3, "the lease of w-1 ran out")
		w.sent(late) // not given it: whoever loses it with its agent, loses it once
		w.refused(e, cmd("late", "a", done(in.Tokens)), instance.CodeLapsed)
		in = w.do(e, "a", take("worker", work)).Instance
		w.quiet("a", 4, time.Hour) // from now on the queue brings it again
		if in.Direct {
			w.Error("it is said to be in no queue")
		}
		w.sound()
	})
}

func TestWorkThatWasGivenBackGoesToTheQueueWhenItHasRested(t *testing.T) {
	inNoTime(t, func(w *world) {
		e := w.engine(ticking)
		w.reclaim(e, nil)
		in := w.direct(e, "a")
		w.do(e, "a", instance.Fail{Token: in.Tokens, Reason: "disk"})
		w.quiet("a", 2, time.Second-look)
		time.Sleep(2 * look)
		w.lapsed("a", 3, "it was given back")
		w.quiet("a", 3, time.Hour)
		w.sound()
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
			inNoTime(t, func(w *world) {
				w.define(strings.Replace(chore, "decide: [{", "decide: [{when: \"result.status == 'blocked'\", stay: 1h}, {", 1))
				e := w.engine(ticking)
				w.reclaim(e, nil)
				if out := w.do(e, "a", do(w.direct(e, "a").Tokens)); !out.Instance.Direct || out.Instance.Claim != nil {
					w.Fatal("this proves nothing: it is in a queue, or held")
				}
				w.quiet("a", 2, time.Hour)
			})
		})
	}
}

func TestOfManyEnginesOneGivesWhatLapsed(t *testing.T) {
	inNoTime(t, func(w *world) {
		one := w.engine(ticking)
		in := w.direct(one, "a")
		all := []*engine.Engine{one, w.engine(ticking), w.engine(ticking)} // two of which read of it
		for _, e := range all {
			w.follow(e)
			w.reclaim(e, nil)
		}
		w.quiet("a", 1, time.Minute-look)
		time.Sleep(2 * look)
		work := w.lapsed("a", 2, "the lease of w-1 ran out")
		w.quiet("a", 2, time.Minute)
		for _, e := range all {
			w.refused(e, cmd("late", "a", done(in.Tokens)), instance.CodeLapsed)
			w.folds(e, w.do(e, "a", instance.Note{Text: "hm"}).Instance)
		}
		w.do(all[1], "a", take("worker", work))
		w.sound()
	})
}

// Who waited is told that it has nothing, and the log says that it has.
func TestWorkWhoseAgentWasNotToldIsNotLost(t *testing.T) {
	inNoTime(t, func(w *world) {
		log, lost := w.store, errors.New("the answer is lost")
		store := &faulty{Store: log, append: func(ctx context.Context, c eventstore.Commit) (uint64, error) {
			if _, err := log.Append(ctx, c); err != nil || !strings.HasPrefix(c.ID, "open") {
				return c.Prev + 1, err
			}
			return 0, lost
		}}
		e := w.engine(ticking, func(c *engine.Config) { c.Store = store })
		w.follow(e)
		w.reclaim(e, nil)
		told := waits(e, "worker", "w-1", time.Hour)
		if _, err := e.Handle(w.Context(), cmd("open", "a", open("a chore")), "chore"); !errors.Is(err, lost) {
			w.Fatalf("answered %v", err)
		}
		if a := <-told; !errors.Is(a.err, lost) {
			w.Errorf("told %+v", a)
		}
		w.quiet("a", 1, time.Minute-look)
		time.Sleep(2 * look)
		w.lapsed("a", 2, "the lease of w-1 ran out")
		w.sound()
	})
}

func TestWhatCouldNotBeGivenIsTriedAgain(t *testing.T) {
	inNoTime(t, func(w *world) {
		log, away, tries := w.store, errors.New("the log is away"), 0
		store := &faulty{Store: log}
		e := w.engine(ticking, func(c *engine.Config) { c.Store = store })
		w.direct(e, "a")
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
		time.Sleep(time.Minute + 4*look)
		w.lapsed("a", 2, "the lease of w-1 ran out")
		if failed != 3 {
			w.Errorf("told of %d failures", failed)
		}
	})
}
