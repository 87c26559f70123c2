package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// queue is a lifecycle with an order.
const queue = `
workflow: queue
version: 1
initial: todo
vars: {urgency: 3, zero: 0}
order: ["'late' in issue.labels ? 0 : 1", vars.urgency]
limits: [{name: enough, when: "instance.returns >= 3", to: done}]
states:
  todo:
    owner: worker
    next: [check, done]
    decide:
      - {when: "result.status == 'success'", to: check}
      - {when: "result.status == 'blocked'", stay: 5s}
      - {to: done}
    on: {hurried: [{stay: now}]}
  check:
    owner: judge
    next: [todo, done]
    decide: [{when: "result.status == 'success'", to: done}, {to: todo}]
  done: {final: true}
`

// openUrgent opens an instance of the urgency; the lower, the more urgent.
func (e *env) openUrgent(ev *engine.Engine, id string, urgency int, labels ...string) instance.Instance {
	e.Helper()
	out, err := ev.Handle(e.Context(), cmd("open-"+id, id, instance.Open{
		Issue: instance.Issue{Title: id, Labels: labels}, Vars: map[string]string{"urgency": fmt.Sprint(urgency)}}), "queue")
	if err != nil {
		e.Fatal(err)
	}
	return out.Instance
}

// expectGiven expects that a claim that names one instance is given another.
func (e *env) expectGiven(ev *engine.Engine, named instance.Instance, want string) instance.Instance {
	e.Helper()
	got := e.do(ev, named.ID, take("worker", named.Work)).Instance
	if got.ID != want || got.Claim == nil || got.Claim.Agent != "worker-1" {
		e.Fatalf("a claim that names %s was given %s, claimed by %+v; want %s", named.ID, got.ID, got.Claim, want)
	}
	return got
}

func newQueue(t *testing.T) (*env, *engine.Engine) {
	t.Helper()
	w := newEnv(t)
	w.define(queue)
	e := w.engine()
	w.follow(e)
	return w, e
}

func TestAClaimIsGivenWhatIsMostUrgent(t *testing.T) {
	w, e := newQueue(t)
	c := w.openUrgent(e, "c", 3)
	b := w.openUrgent(e, "b", 2)
	w.openUrgent(e, "b2", 2)
	w.openUrgent(e, "late", 9, "late")
	w.openUrgent(e, "held", 1)
	w.expectGiven(e, c, "late")
	w.expectGiven(e, c, "held")
	w.expectGiven(e, c, "b") // before b2: it was dispatched first
	a := w.openUrgent(e, "a", 1)
	w.expectGiven(e, b, "a")
	w.do(e, "c", instance.Signal{Name: "said", Data: map[string]string{"urgency": "0"}})
	w.expectGiven(e, a, "c")
	w.expectGiven(e, a, "b2")
}

func TestAPermitComesAgainOnlyWhileThereIsWork(t *testing.T) {
	w, e := newQueue(t)
	a := w.openUrgent(e, "a", 1)
	refused := func(code instance.Code, free time.Time) {
		t.Helper()
		w.n++
		out, err := e.Handle(t.Context(), cmd(fmt.Sprintf("no-%d", w.n), "a", take("worker", a.Work)), "")
		if !errors.Is(err, &instance.Refusal{Code: code}) || !out.Free.Equal(free) {
			t.Fatalf("answered %v, to ask again at %v; want %s, %v", err, out.Free, code, free)
		}
	}
	soon := func(d time.Duration) time.Time { return w.clock.now().Add(d) }
	held := w.expectGiven(e, a, "a")
	refused(instance.CodeHeld, soon(time.Minute))
	w.clock.advance(time.Minute) // the lease runs out
	held = w.expectGiven(e, a, "a")
	if held.Claim.Token != 2 {
		t.Errorf("it is claimed by %+v", held.Claim)
	}
	w.do(e, "a", instance.Fail{Token: 2, Reason: "disk"})
	refused(instance.CodeHeld, soon(time.Second))
	w.clock.advance(time.Second)
	w.do(e, "a", instance.Fail{Token: w.expectGiven(e, a, "a").Claim.Token, Reason: "disk"})
	refused(instance.CodeHeld, soon(4*time.Second))
	w.clock.advance(4 * time.Second)
	w.do(e, "a", instance.Fail{Token: w.expectGiven(e, a, "a").Claim.Token, Reason: "limit", Until: soon(3 * time.Hour)})
	refused(instance.CodeHeld, soon(3*time.Hour))
	w.clock.advance(3 * time.Hour)
	w.do(e, "a", instance.Fail{Token: w.expectGiven(e, a, "a").Claim.Token, Reason: "limit", Until: soon(72 * time.Hour)})
	refused(instance.CodeHeld, soon(24*time.Hour))
	w.do(e, "a", instance.Retry{Reason: "it is back"})
	held = w.expectGiven(e, a, "a")
	parked := w.do(e, "a", instance.Report{Token: held.Claim.Token, Result: instance.Result{Status: instance.Blocked}}).Instance
	if parked.Parked == nil {
		t.Fatalf("it is in %s, not parked", parked.State)
	}
	refused(instance.CodeStale, time.Time{})
	w.do(e, "a", instance.Signal{Name: "hurried"})
	held = w.expectGiven(e, a, "a")
	w.do(e, "a", instance.Escalate{Token: held.Claim.Token, Reason: "who?", RequiresHuman: true})
	refused(instance.CodeStale, time.Time{})
	w.do(e, "a", instance.Resolve{Text: "you"})
	w.do(e, "a", instance.Pause{Reason: "lunch"})
	refused(instance.CodeStale, time.Time{})
	w.do(e, "a", instance.Resume{})
	held = w.expectGiven(e, a, "a")
	moved := w.do(e, "a", done(held.Claim.Token)).Instance
	refused(instance.CodeStale, time.Time{})
	if judged := w.do(e, "a", take("judge", moved.Work)).Instance; judged.State != "check" {
		t.Errorf("it is in %s", judged.State)
	}
	w.refused(e, cmd("nobody", "a", take("king", moved.Work)), instance.CodeNotOwner)
	w.refused(e, cmd("nothing", "z", take("worker", moved.Work)), instance.CodeUnknownInstance)
}

func TestAQuestionIsWorkOfWhoIsAsked(t *testing.T) {
	w, e := newQueue(t)
	a := w.openUrgent(e, "a", 1)
	held := w.expectGiven(e, a, "a")
	b := w.openUrgent(e, "b", 2)
	w.do(e, "b", done(w.expectGiven(e, b, "b").Claim.Token)) // now the judge's
	w.do(e, "a", instance.Inquire{Token: held.Claim.Token, Questions: []instance.Inquiry{{To: "judge", Question: "Which?"}}})
	if got := w.do(e, "b", take("judge", 0)).Instance; got.ID != "a" {
		t.Errorf("the judge was given %s", got.ID)
	}
	if got := w.do(e, "b", take("judge", 0)).Instance; got.ID != "b" {
		t.Errorf("the judge was given %s", got.ID)
	}
}

func TestAClaimSentAgainIsAnsweredAsTheFirstTime(t *testing.T) {
	w, e := newQueue(t)
	b := w.openUrgent(e, "b", 2)
	w.openUrgent(e, "a", 1)
	again := cmd("claim", "b", take("worker", b.Work))
	first := w.handle(e, again)
	w.openUrgent(e, "urgent", 0)
	lagging := w.engine()
	w.follow(lagging)
	for name, e := range map[string]*engine.Engine{"the same": e, "another": lagging} {
		if got := w.handle(e, again); !got.Duplicate || got.Seq != first.Seq || got.Instance.ID != "a" {
			t.Errorf("%s engine answers %d of %s, a duplicate: %v; want %d of a", name, got.Seq, got.Instance.ID, got.Duplicate, first.Seq)
		}
	}
	now := first.Instance
	for _, role := range []string{"worker", "judge"} {
		if role == "judge" {
			now = w.do(e, "a", take("judge", now.Work)).Instance
		}
		now = w.do(e, "a", done(now.Claim.Token)).Instance
	}
	if got := w.handle(e, again); !got.Duplicate || got.Seq != first.Seq || got.Instance.Closed != instance.Ended {
		t.Errorf("when all is over it is answered %+v", got)
	}
	w.refused(e, cmd("open-b", "a", take("worker", b.Work)), instance.CodeInvalid)
}

// An engine that has not heard of a claim finds out when it makes it again.
func TestAClaimThatAnotherEngineMadeIsFoundInTheLog(t *testing.T) {
	w := newEnv(t)
	w.define(queue)
	ahead := w.engine()
	w.follow(ahead)
	b := w.openUrgent(ahead, "b", 2)
	store := &faulty{Store: w.store}
	let, seen := make(chan struct{}), make(chan struct{}, 10)
	store.read = func(f func(eventstore.Commit) error) func(eventstore.Commit) error {
		return func(c eventstore.Commit) error {
			if c.Seq > 1 {
				seen <- struct{}{}
				<-let
			}
			return f(c)
		}
	}
	behind := w.engine(func(c *engine.Config) { c.Store = store })
	w.follow(behind)
	w.openUrgent(ahead, "a", 1)
	again := cmd("claim", "b", take("worker", b.Work))
	first := w.handle(ahead, again)
	<-seen // it knows of b only
	answered := make(chan engine.Outcome, 1)
	go func() {
		out, err := behind.Handle(context.Background(), again, "")
		if err != nil {
			t.Error(err)
		}
		answered <- out
	}()
	close(let)
	if got := <-answered; got.Seq != first.Seq || got.Instance.ID != "a" {
		t.Errorf("answered %d of %s, want %d of a", got.Seq, got.Instance.ID, first.Seq)
	}
}

func TestWhatCannotBeClaimedHoldsUpNothing(t *testing.T) {
	w, e := newQueue(t)
	w.define(strings.NewReplacer("version: 1", "version: 2", "on: {", `on: {claimed: [{when: "1 / vars.zero == 1", to: done}], `).Replace(queue))
	w.openUrgent(e, "stuck", 0)
	w.define(strings.NewReplacer("version: 1", "version: 3", "vars.urgency]", "1 / vars.zero]").Replace(queue))
	untold := w.openUrgent(e, "untold", 0, "late")
	w.define(queue)
	w.openUrgent(e, "a", 1)
	a := w.expectGiven(e, untold, "a")
	last := w.expectGiven(e, untold, "untold")
	w.refused(e, cmd("c", "untold", take("worker", untold.Work)), instance.CodeHeld) // it may come back
	w.do(e, "a", done(a.Claim.Token))
	w.do(e, "untold", done(last.Claim.Token))
	w.refused(e, cmd("d", "untold", take("worker", untold.Work)), instance.CodeUndecided)
}

// A definition without an order is as if there were no other.
func TestWhatHasNoOrderIsGivenByName(t *testing.T) {
	w, e := newQueue(t)
	w.define(strings.NewReplacer("version: 1", "version: 9", "order:", "# order:").Replace(queue))
	plain := w.openUrgent(e, "plain", 0)
	w.define(queue)
	b := w.openUrgent(e, "b", 2)
	w.expectGiven(e, b, "b")
	w.refused(e, cmd("c", "b", take("worker", b.Work)), instance.CodeHeld)
	w.expectGiven(e, plain, "plain")
	w.refused(e, cmd("d", "plain", take("worker", plain.Work)), instance.CodeHeld)
}

// After a commit whose outcome nobody told, a claim looks at the log first.
func TestAClaimWaitsForWhatMayBeInTheLog(t *testing.T) {
	w := newEnv(t)
	w.define(queue)
	lost := errors.New("the answer was lost")
	store := &faulty{Store: w.store}
	e := w.engine(func(c *engine.Config) { c.Store = store })
	w.follow(e)
	b := w.openUrgent(e, "b", 2)
	store.append = func(ctx context.Context, c eventstore.Commit) (uint64, error) {
		if _, err := w.store.Append(ctx, c); err != nil {
			return 0, err
		}
		return 0, lost
	}
	if _, err := e.Handle(t.Context(), cmd("open-a", "a", instance.Open{Issue: instance.Issue{Title: "a"}, Vars: map[string]string{"urgency": "1"}}), "queue"); !errors.Is(err, lost) {
		t.Fatalf("answered %v", err)
	}
	store.append = nil
	w.expectGiven(e, b, "a")
}
