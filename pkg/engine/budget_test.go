package engine_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// budget is spent of the roles that it has, until the day ends. It implements
// engine.Budget.
type budget map[string]bool

func (b budget) Rests(_ time.Time, in instance.Instance, role string) (time.Time, string) {
	if why := b.Over(time.Time{}, in, role); why != "" {
		return time.Date(2026, 1, 3, 0, 0, 0, 0, time.UTC), why
	}
	return time.Time{}, ""
}

func (b budget) Over(_ time.Time, in instance.Instance, role string) string {
	if b[role] || b[in.ID] {
		return "all is spent"
	}
	return ""
}

func (b budget) Raise(_ time.Time, in instance.Instance, a instance.RaiseDay) (instance.RaiseDay, error) {
	if !b[in.Owner] {
		return a, errors.New("nothing is spent")
	}
	a.Budgets = []string{"day=5usd"}
	return a, nil
}

// spent is a budget that is spent of the roles in it until the day ends.
func spent(roles map[string]bool) func(*engine.Config) {
	return func(c *engine.Config) { c.Budget = budget(roles) }
}

// expectHeld expects that work is parked until the day ends.
func (e *env) expectHeld(ev *engine.Engine, id string) {
	e.Helper()
	in, err := ev.Get(e.Context(), id)
	if err != nil || in.Parked == nil || in.Parked.Reason != "all is spent" || in.Claim != nil {
		e.Fatalf("%s is parked: %+v, claimed: %+v, %v", id, in.Parked, in.Claim, err)
	}
}

func TestWorkWhoseBudgetIsSpentIsParkedInPlaceOfItsClaim(t *testing.T) {
	w := newEnv(t)
	roles := map[string]bool{"worker": true}
	ev := w.engine(spent(roles))
	w.follow(ev)
	in := w.do(ev, "a", instance.Open{Issue: instance.Issue{Title: "a"}}).Instance
	w.refused(ev, cmd("claim", "a", take("worker", in.Work)), instance.CodeStale)
	w.expectHeld(ev, "a")
	w.refused(ev, cmd("claim-again", "a", take("worker", in.Work)), instance.CodeStale)
	if n := len(w.commits("a")); n != 2 {
		t.Errorf("there are %d commits, want the one that opened it and the one that parked it", n)
	}

	roles["worker"] = false // the budget was raised
	in = w.do(ev, "a", instance.Retry{Reason: "there is more"}).Instance
	out := w.do(ev, "a", take("worker", in.Work))
	if out.Instance.Claim == nil {
		t.Fatalf("it is not claimed: %+v", out.Instance)
	}
	w.do(ev, "a", instance.Report{Token: out.Instance.Claim.Token, Result: instance.Result{Status: instance.Success, ConfidenceScore: 1}})
	judged, err := ev.Get(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	roles["worker"] = true
	if got := w.do(ev, "a", take("judge", judged.Work)); got.Instance.Claim == nil {
		t.Error("another role's work rests, too")
	}
}

func TestHeldWorkComesBackWhenTheDayEnds(t *testing.T) {
	w := newEnv(t)
	roles := map[string]bool{"worker": true}
	ev := w.engine(spent(roles))
	w.follow(ev)
	in := w.do(ev, "a", instance.Open{Issue: instance.Issue{Title: "a"}}).Instance
	w.refused(ev, cmd("claim", "a", take("worker", in.Work)), instance.CodeStale)
	w.expectHeld(ev, "a")
	roles["worker"] = false
	w.clock.advance(15 * time.Hour)
	in = w.do(ev, "a", instance.Wake{Until: time.Date(2026, 1, 3, 0, 0, 0, 0, time.UTC)}).Instance
	if got := w.do(ev, "a", take("worker", in.Work)); got.Instance.Claim == nil {
		t.Error("it is not claimed")
	}
}

func TestAnAgentThatWaitsIsNotGivenWorkWhoseBudgetIsSpent(t *testing.T) {
	w := newEnv(t)
	ev := w.engine(spent(map[string]bool{"worker": true}))
	w.follow(ev)
	claim := take("worker", 0)
	replied := make(chan error, 1)
	ev.Wait(claim, time.Minute, func(_ engine.Outcome, err error) { replied <- err })
	in := w.do(ev, "a", instance.Open{Issue: instance.Issue{Title: "a"}}).Instance
	if in.Claim != nil || in.Direct {
		t.Errorf("it was given to an agent that waited: %+v", in.Claim)
	}
	ev.Dismiss()
	if err := <-replied; err == nil {
		t.Error("the agent got work")
	}
}

func TestOfWorkWithAnOrderTheNextIsGivenWhoseBudgetIsNotSpent(t *testing.T) {
	w := newEnv(t)
	w.define(queue)
	ev := w.engine(spent(map[string]bool{"dear": true}))
	w.follow(ev)
	dear := w.openUrgent(ev, "dear", 1)
	w.openUrgent(ev, "cheap", 2)
	w.expectGiven(ev, dear, "cheap")
	w.expectHeld(ev, "dear")
}

func TestWhoWorksIsToldThatTheBudgetIsSpentUnlessItAnswersAQuestion(t *testing.T) {
	w := newEnv(t)
	roles := map[string]bool{}
	ev := w.engine(spent(roles))
	w.follow(ev)
	in := w.do(ev, "a", instance.Open{Issue: instance.Issue{Title: "a"}}).Instance
	in = w.do(ev, "a", take("worker", in.Work)).Instance
	if why := ev.Over(in, "worker"); why != "" {
		t.Errorf("it is over: %s", why)
	}
	roles["worker"], roles["judge"] = true, true
	if why := ev.Over(in, "worker"); why != "all is spent" {
		t.Errorf("it is over: %q", why)
	}
	in.Questions = []instance.Question{{Number: 1, From: "worker", To: "judge", Text: "which?"}}
	if why := ev.Over(in, "judge"); why != "" {
		t.Errorf("an answer is over: %s", why)
	}
}

func TestWorkGoesOnOnceItsBudgetIsRaised(t *testing.T) {
	inBubble(t, func(w *env) {
		roles := map[string]bool{"worker": true}
		var mu sync.Mutex
		ev := w.engine(withRunningClock, func(c *engine.Config) { c.Budget = locked{budget(roles), &mu} })
		w.reclaim(ev, nil)
		in := w.do(ev, "a", open("a chore")).Instance
		w.refused(ev, cmd("claim", "a", take("worker", in.Work)), instance.CodeStale)
		w.refused(ev, cmd("raise-nothing", "b", instance.RaiseDay{USD: 5}), instance.CodeUnknownInstance)
		out := w.do(ev, "a", instance.RaiseDay{USD: 5})
		if len(out.Events) != 1 || out.Events[0] != (instance.DayRaised{Budget: "day=5usd", USD: 5, By: out.Events[0].(instance.DayRaised).By}) {
			t.Errorf("recorded is %+v", out.Events)
		}
		mu.Lock()
		roles["worker"] = false
		mu.Unlock()
		time.Sleep(2 * time.Second)
		in, _ = ev.Known("a")
		if in.Parked != nil {
			t.Fatalf("it is parked: %+v", in.Parked)
		}
		w.do(ev, "a", take("worker", in.Work))
		w.refused(ev, cmd("raise", "a", instance.RaiseDay{USD: 5}), instance.CodeInvalid)
		w.checkLog()
	})
}

// locked is a budget that another goroutine changes.
type locked struct {
	engine.Budget
	mu *sync.Mutex
}

func (l locked) Rests(at time.Time, in instance.Instance, role string) (time.Time, string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Budget.Rests(at, in, role)
}
