package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/logcheck"
)

// answer is the reply to an agent that waits.
type answer struct {
	engine.Outcome
	err error
}

// waits makes an agent wait. The channel gets each reply.
func waits(e *engine.Engine, role, agent string, atMost time.Duration) <-chan answer {
	told := make(chan answer, 2)
	e.Wait(instance.Claim{Role: role, Agent: agent, Lease: time.Minute}, atMost, func(out engine.Outcome, err error) { told <- answer{out, err} })
	return told
}

// expectClaim expects that an agent that waits gets the claim that a commit made.
func (e *env) expectClaim(told <-chan answer, agent string, made engine.Outcome) instance.Instance {
	e.Helper()
	a := <-told
	if c := a.Instance.Claim; a.err != nil || c == nil || c.Agent != agent || a.Seq != made.Seq || !a.Instance.Direct || !c.Lease.Equal(e.clock.now().Add(time.Minute)) {
		e.Fatalf("%s is told of commit %d with the claim %+v, %v; want it of commit %d", agent, a.Seq, c, a.err, made.Seq)
	}
	if d := cmp.Diff(made.Instance, a.Instance); d != "" || cmp.Diff(made.Events, a.Events) != "" || len(told) > 0 {
		e.Errorf("who made it is told else, or %s twice:\n%s", agent, d)
	}
	return a.Instance
}

// expectNoWork expects that an agent that waits gets no work.
func (e *env) expectNoWork(told <-chan answer) {
	e.Helper()
	if a := <-told; !errors.Is(a.err, engine.ErrNoWork) || a.Seq > 0 || len(told) > 0 {
		e.Errorf("it is told %+v, and %d more; want ErrNoWork", a, len(told))
	}
}

// checkLog checks that the log breaks no rule.
func (e *env) checkLog() {
	e.Helper()
	r, err := logcheck.Check(e.Context(), e.store, e.defs.Catalog.Hashed)
	if err != nil || len(r.Violations) > 0 {
		e.Errorf("%v, %v", r.Violations, err)
	}
}

func TestWorkIsGivenToWhoWaitsLongest(t *testing.T) {
	inBubble(t, func(w *env) {
		e := w.engine()
		judge := waits(e, "judge", "j-1", time.Hour)
		first, second := waits(e, "worker", "w-1", time.Hour), waits(e, "worker", "w-2", time.Hour)
		a := w.expectClaim(first, "w-1", w.do(e, "a", open("a chore")))
		b := w.expectClaim(second, "w-2", w.do(e, "b", open("a chore")))
		if len(judge) > 0 {
			w.Fatalf("work of another role: %+v", <-judge)
		}
		a = w.expectClaim(judge, "j-1", w.do(e, "a", done(a.Claim.Token)))
		a = w.do(e, "a", done(a.Claim.Token)).Instance
		if b = w.do(e, "b", done(b.Claim.Token)).Instance; a.Closed != instance.Ended || b.State != "check" || b.Direct {
			w.Errorf("a is in %s, b in %s, direct %v", a.State, b.State, b.Direct)
		}
		for i, c := range append(w.commits("a"), w.commits("b")...) {
			if wakes := i == 4; c.Wakes != wakes { // only the last one made work that nobody waited for
				w.Errorf("commit %d of %s in %s wakes: %v", c.Seq, c.Instance, c.State, c.Wakes)
			}
		}
		w.checkFold(e, b)
		w.checkLog()
	})
}

func TestWhatIsNotGivenDirectlyGoesByTheQueue(t *testing.T) {
	const aside = "workflow: aside\nversion: 1\ninitial: todo\nstates:\n" +
		"  todo: {owner: worker, next: [check], on: {claimed: check}, decide: [{to: check}]}\n" +
		"  check: {owner: judge, next: [done], decide: [{to: done}]}\n  done: {final: true}\n"
	for name, c := range map[string]struct {
		lifecycle string
		do        instance.Action // after the claim
	}{
		"what a role is asked":            {chore, instance.Inquire{Token: 1, Questions: []instance.Inquiry{{To: "judge", Question: "Which?"}}}},
		"what has an order":               {strings.Replace(queue, "workflow: queue", "workflow: chore", 1), done(1)},
		"what a claim is turned aside to": {strings.Replace(aside, "workflow: aside", "workflow: chore", 1), nil},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *env) {
				w.define(c.lifecycle)
				e := w.engine()
				w.follow(e)
				told := waits(e, "judge", "j-1", time.Hour)
				out := w.do(e, "a", take("worker", w.do(e, "a", open("a chore")).Instance.Work))
				if c.do != nil {
					out = w.do(e, "a", c.do)
				}
				if _, dispatched := out.Events[len(out.Events)-1].(instance.Dispatched); !dispatched || out.Instance.Direct {
					w.Errorf("it ends with %+v, direct %v", out.Events, out.Instance.Direct)
				}
				if all := w.commits("a"); !all[len(all)-1].Wakes {
					w.Error("it wakes nobody")
				}
				w.expectNoWork(told) // to the queue, where the work is
				w.do(e, "a", take("judge", out.Instance.Work))
				w.checkLog()
			})
		})
	}
}

// What comes in between, or does not come in at all, is told to who waited, and
// the next one is given the work.
func TestWhoWaitedForWorkThatWasNotMadeIsTold(t *testing.T) {
	away := errors.New("the log is away")
	for name, want := range map[string]error{"another was first": engine.ErrNoWork, "the log is away": away} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *env) {
				other, log := w.engine(), w.store
				store := &faulty{Store: log}
				e := w.engine(func(config *engine.Config) { config.Store = store })
				in := w.do(e, "a", take("worker", w.do(e, "a", open("a chore")).Instance.Work)).Instance
				first, second := waits(e, "judge", "j-1", time.Hour), waits(e, "judge", "j-2", time.Hour)
				store.append = func(ctx context.Context, c eventstore.Commit) (uint64, error) {
					store.append = nil
					if want == away {
						return 0, away
					}
					w.do(other, "a", instance.Note{Text: "hm"})
					return log.Append(ctx, c)
				}
				report := cmd("report", "a", done(in.Tokens))
				out, err := e.Handle(w.Context(), report, "")
				if want == away {
					if !errors.Is(err, away) || len(second) > 0 {
						w.Fatalf("answered %v, with %d told", err, len(second))
					}
					out, err = e.Handle(w.Context(), report, "")
				}
				if err != nil || out.Duplicate {
					w.Fatalf("answered %+v, %v", out, err)
				}
				if a := <-first; !errors.Is(a.err, want) || len(first) > 0 {
					w.Errorf("told %+v, want %v", a, want)
				}
				in = w.expectClaim(second, "j-2", out)
				w.checkFold(e, w.do(e, "a", done(in.Tokens)).Instance)
				w.checkLog()
			})
		})
	}
}

func TestADuplicateOfAReportThatGaveWorkIsAnsweredAsTheFirst(t *testing.T) {
	inBubble(t, func(w *env) {
		e := w.engine()
		in := w.do(e, "a", take("worker", w.do(e, "a", open("a chore")).Instance.Work)).Instance
		told, report := waits(e, "judge", "j-1", time.Hour), cmd("report", "a", done(in.Tokens))
		first := w.handle(e, report)
		w.expectClaim(told, "j-1", first)
		follower := w.engine()
		w.follow(follower)
		for name, e := range map[string]*engine.Engine{"the same engine": e, "one that knows nothing": w.engine(), "one that follows": follower} {
			late := waits(e, "judge", "j-2", time.Hour)
			got := w.handle(e, report)
			if !got.Duplicate || got.Seq != first.Seq || cmp.Diff(first.Events, got.Events) != "" || cmp.Diff(first.Instance, got.Instance) != "" {
				w.Errorf("%s answers %d, duplicate %v, %v", name, got.Seq, got.Duplicate, got.Events)
			}
			if len(late) > 0 {
				w.Errorf("%s tells who waits %+v", name, <-late)
			}
			e.Dismiss()
			w.expectNoWork(late)
		}
		if n := len(w.commits("a")); n != 3 {
			w.Errorf("the log has %d commits, want 3", n)
		}
	})
}
