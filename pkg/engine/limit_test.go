package engine_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/engine/dispatch"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/wire"
)

// limited gives an engine limits.
func limited(t *testing.T, limits ...string) func(*engine.Config) {
	return func(c *engine.Config) {
		for _, text := range limits {
			l, err := dispatch.ParseLimit(text)
			if err != nil {
				t.Fatal(err)
			}
			c.Limits = append(c.Limits, l)
		}
	}
}

func openIn(repo string, own ...instance.Limit) instance.Open {
	o := open("a chore")
	o.Issue.Repo, o.Issue.Config = repo, &instance.Configuration{Hash: "h", Limits: own}
	return o
}

// expectHeldBack expects that a claim of the work is refused, and that it waits for a place.
func (e *env) expectHeldBack(ev *engine.Engine, id string, work uint64, limit string) {
	e.Helper()
	e.n++
	e.refused(ev, cmd(fmt.Sprintf("do-%d", e.n), id, take("worker", work)), instance.CodeStale)
	in, _ := ev.Known(id)
	if in.WaitsFor() != instance.ForPlace || in.Parked.Reason != "it waits for a place: "+limit {
		e.Fatalf("%s is parked as %+v, want it to wait for %q", id, in.Parked, limit)
	}
}

// expectAdmitted waits until the work of an instance is dispatched again, and claims it.
func (e *env) expectAdmitted(ev *engine.Engine, id string, after uint64) instance.Instance {
	e.Helper()
	time.Sleep(reclaimDelay)
	in, _ := ev.Known(id)
	if in.WaitsFor() == instance.ForPlace || in.Work == after {
		e.Fatalf("%s still waits: %+v", id, in.Parked)
	}
	return e.do(ev, id, take("worker", in.Work)).Instance
}

func TestNoMoreIsClaimedThanALimitPermits(t *testing.T) {
	inBubble(t, func(w *env) {
		e := w.engine(withRunningClock, limited(w.T, "repo=acme/*,state=todo:1"))
		w.reclaim(e, nil)
		a, b := w.do(e, "a", openIn("acme/widgets")).Instance, w.do(e, "b", openIn("Acme/Gadgets")).Instance
		other := w.do(e, "other", openIn("else/where")).Instance
		first := w.do(e, "a", take("worker", a.Work)).Instance
		w.expectHeldBack(e, "b", b.Work, "at most 1 at a time in todo of acme/*")
		w.do(e, "other", take("worker", other.Work)) // another repository
		time.Sleep(reclaimDelay)
		if in, _ := e.Known("b"); in.WaitsFor() != instance.ForPlace {
			t.Fatal("it was let in while there was no place")
		}
		now := w.do(e, "a", done(first.Tokens)).Instance // it goes on in another state
		second := w.expectAdmitted(e, "b", b.Work)
		w.do(e, "a", instance.Claim{Role: "judge", Agent: "j", Work: now.Work, Lease: time.Minute})
		w.checkLog()
		if second.Claim == nil || second.Parked != nil {
			t.Errorf("it is %+v", second)
		}
	})
}

func TestTheLimitOfARepositoryIsItsOwn(t *testing.T) {
	inBubble(t, func(w *env) {
		e := w.engine(withRunningClock, limited(w.T, "repo=*/*:5"))
		one := instance.Limit{Role: "worker", AtOnce: 1}
		a, b := w.do(e, "a", openIn("acme/widgets", one)).Instance, w.do(e, "b", openIn("acme/widgets", one)).Instance
		c := w.do(e, "c", openIn("acme/gadgets", one)).Instance
		w.do(e, "a", take("worker", a.Work))
		w.expectHeldBack(e, "b", b.Work, "at most 1 at a time by worker of acme/widgets")
		w.do(e, "c", take("worker", c.Work))
	})
}

// An agent that died holds a place for as long as its lease lasts.
func TestALeaseThatRanOutLeavesAPlace(t *testing.T) {
	inBubble(t, func(w *env) {
		e := w.engine(withRunningClock, limited(w.T, "1"))
		w.reclaim(e, nil)
		a, b := w.do(e, "a", openIn("acme/widgets")).Instance, w.do(e, "b", openIn("acme/widgets")).Instance
		w.do(e, "a", take("worker", a.Work))
		w.expectHeldBack(e, "b", b.Work, "at most 1 at a time")
		time.Sleep(time.Minute)
		w.expectAdmitted(e, "b", b.Work)
		w.expectHeldBack(e, "a", a.Work, "at most 1 at a time") // its queue brings it again
	})
}

func TestANewOrchestratorKnowsWhatWaitsForAPlace(t *testing.T) {
	inBubble(t, func(w *env) {
		e := w.engine(withRunningClock, limited(w.T, "state=todo:1"))
		a, b := w.do(e, "a", openIn("acme/widgets")).Instance, w.do(e, "b", openIn("acme/widgets")).Instance
		c := w.do(e, "c", openIn("acme/widgets")).Instance
		first := w.do(e, "a", take("worker", a.Work)).Instance
		w.expectHeldBack(e, "b", b.Work, "at most 1 at a time in todo")

		next := w.engine(withRunningClock, limited(w.T, "state=todo:1"))
		w.follow(next)
		w.reclaim(next, nil)
		w.expectHeldBack(next, "c", c.Work, "at most 1 at a time in todo")
		w.do(next, "a", done(first.Tokens))
		w.expectAdmitted(next, "b", b.Work) // it has waited longer
		time.Sleep(reclaimDelay)
		if in, _ := next.Known("c"); in.WaitsFor() != instance.ForPlace {
			t.Error("both were let in")
		}

		free := w.engine(withRunningClock) // the operator has taken the limit away
		w.follow(free)
		w.reclaim(free, nil)
		w.expectAdmitted(free, "c", c.Work)
	})
}

// Work beyond a limit is given to no agent that waits; it goes by the queue.
func TestAnAgentThatWaitsIsGivenNothingBeyondALimit(t *testing.T) {
	inBubble(t, func(w *env) {
		e := w.engine(limited(w.T, "1"))
		first, second := waits(e, "worker", "w-1", time.Hour), waits(e, "worker", "w-2", time.Hour)
		w.expectClaim(first, "w-1", w.do(e, "a", openIn("acme/widgets")))
		b := w.do(e, "b", openIn("acme/widgets")).Instance
		w.expectNoWork(second)
		if b.Claim != nil || b.Direct {
			t.Fatalf("it is %+v", b)
		}
		w.expectHeldBack(e, "b", b.Work, "at most 1 at a time")
		w.checkLog()
	})
}

// Whatever comes at once, the log never has more claims than the limit.
func TestALimitHoldsUnderManyClaims(t *testing.T) {
	inBubble(t, testManyClaims)
}

func testManyClaims(w *env) {
	const instances, most = 40, 3
	t, e := w.T, w.engine(withRunningClock, limited(w.T, "repo=acme/widgets:3"))
	w.reclaim(e, nil)
	for i := range instances {
		w.do(e, fmt.Sprint(i), openIn("acme/widgets"))
	}
	var all sync.WaitGroup
	for i := range instances {
		all.Go(func() {
			id := fmt.Sprint(i)
			for try := 0; ; try++ {
				in, _ := e.Known(id)
				if in.Closed != "" {
					return
				}
				if in.Claim != nil && in.Claim.Live(time.Now()) {
					time.Sleep(10 * time.Millisecond) // the work
					_, err := e.Handle(t.Context(), cmd(fmt.Sprint("done-", id, "-", in.Claim.Token), id, done(in.Claim.Token)), "")
					if err != nil {
						t.Error(err)
						return
					}
					continue
				}
				if in.Parked != nil {
					time.Sleep(time.Millisecond)
					continue
				}
				_, err := e.Handle(t.Context(), cmd(fmt.Sprint("take-", id, "-", try), id, instance.Claim{Role: in.Owner, Agent: "a" + id, Work: in.Work,
					Lease: time.Minute}), "")
				if err != nil && !errors.As(err, new(*instance.Refusal)) {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	under, top, held := map[string]bool{}, 0, 0
	for _, c := range w.log() {
		for _, ev := range c.Events {
			switch ev := ev.(type) {
			case instance.Claimed:
				under[c.Instance] = true
			case instance.Reported:
				delete(under, c.Instance)
			case instance.ParkedUntil:
				if ev.WaitsFor == instance.ForPlace {
					held++
				}
			}
		}
		top = max(top, len(under))
	}
	if top != most || held == 0 {
		t.Errorf("%d were claimed at a time, %d were held back; want %d, and some", top, held, most)
	}
}

// logged is a commit of the log, with its events.
type logged struct {
	Instance string
	Events   []instance.Event
}

// log is the whole log in order.
func (e *env) log() (all []logged) {
	e.Helper()
	type numbered struct {
		seq uint64
		logged
	}
	var found []numbered
	for i := range 40 {
		for _, c := range e.commits(fmt.Sprint(i)) {
			d, err := wire.ToCommit(c)
			if err != nil {
				e.Fatal(err)
			}
			found = append(found, numbered{c.Seq, logged{c.Instance, d.Events}})
		}
	}
	slices.SortFunc(found, func(a, b numbered) int { return int(a.seq) - int(b.seq) })
	for _, c := range found {
		all = append(all, c.logged)
	}
	return all
}
