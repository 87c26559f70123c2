package engine_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/eventstore"
	"github.com/signalbox/signalbox/pkg/instance"
)

// promised is what one who waits was promised.
type promised struct {
	engine.Outcome
	command, at string
}

// trusts has an agent wait that takes promises, or cannot be made one.
func trusts(e *engine.Engine, role, agent string, takes bool) (promises <-chan promised, told <-chan answer) {
	p, a := make(chan promised, 2), make(chan answer, 2)
	e.Wait(instance.Claim{Role: role, Agent: agent, Lease: time.Minute}, time.Hour, &engine.Promise{Inbox: agent, Make: func(out engine.Outcome, command, at string) bool {
		p <- promised{out, command, at}
		return takes
	}}, func(out engine.Outcome, err error) { a <- answer{out, err} })
	return p, a
}

// attended is a log whose acknowledgements witnesses hear.
func attended(log eventstore.Store) *faulty {
	return &faulty{Store: log, append: func(ctx context.Context, c eventstore.Commit) (uint64, error) {
		if c.Witness == nil {
			return log.Append(ctx, c)
		}
		knows := c.Witness.Sent("at " + c.Witness.Inbox)
		seq, err := log.Append(ctx, c)
		if knows && err == nil {
			c.Witness.Heard = "at " + c.Witness.Inbox
		}
		return seq, err
	}}
}

func TestWhoWaitsIsPromisedWhatItIsTold(t *testing.T) {
	for _, takes := range []bool{true, false} {
		inNoTime(t, func(w *world) {
			e := w.engine(func(c *engine.Config) { c.Store = attended(w.store) })
			in := w.do(e, "a", take("worker", w.do(e, "a", open("a chore")).Instance.Work)).Instance
			promises, told := trusts(e, "judge", "j-1", takes)
			out := w.take(e, cmd("report", "a", done(in.Tokens)))
			in = w.gets(told, "j-1", out)
			p := <-promises
			if p.command != "report" || p.at != "at j-1" || len(promises) > 0 || (out.Promised == p.at) != takes {
				t.Errorf("%s was promised at %s, and %d more; kept: %q, want %v", p.command, p.at, len(promises), out.Promised, takes)
			}
			if in.Seq == 0 || in.Work != in.Seq || in.Entered != in.Seq {
				t.Fatalf("it is at %d, in its state since %d, the work is %d", in.Seq, in.Entered, in.Work)
			}
			in.Seq, in.Work, in.Entered = 0, 0, 0
			if d := cmp.Diff(in, p.Instance) + cmp.Diff(out.Events, p.Events); d != "" || p.Seq > 0 {
				t.Errorf("at %d it was promised else:\n%s", p.Seq, d)
			}
			w.sound()
		})
	}
}

func TestAPromiseIsNotKeptByACommitThatIsNotMade(t *testing.T) {
	inNoTime(t, func(w *world) {
		other, log := w.engine(), attended(w.store)
		store := &faulty{Store: w.store, append: log.append}
		e := w.engine(func(c *engine.Config) { c.Store = store })
		in := w.do(e, "a", take("worker", w.do(e, "a", open("a chore")).Instance.Work)).Instance
		promises, told := trusts(e, "judge", "j-1", true)
		store.append = func(ctx context.Context, c eventstore.Commit) (uint64, error) {
			store.append = log.append
			w.do(other, "a", instance.Note{Text: "hm"})
			return log.append(ctx, c)
		}
		out := w.take(e, cmd("report", "a", done(in.Tokens)))
		if a := <-told; !errors.Is(a.err, engine.ErrNoWork) || a.Promised != "" || out.Promised != "" || len(told) > 0 || len(promises) != 1 {
			t.Errorf("told %+v, of %d promises; the command was answered %+v", a, len(promises), out)
		}
		w.sound()
	})
}

func TestNobodyIsPromisedWhatNobodyWaitsFor(t *testing.T) {
	inNoTime(t, func(w *world) {
		e := w.engine(func(c *engine.Config) { c.Store = attended(w.store) })
		promises, told := trusts(e, "judge", "j-1", true)
		if out := w.do(e, "a", open("a chore")); out.Promised != "" || len(promises) > 0 || len(told) > 0 {
			t.Errorf("%d promises, %d told, the command %q", len(promises), len(told), out.Promised)
		}
	})
}

func TestNobodyIsPromisedWhatItCannotTake(t *testing.T) {
	inNoTime(t, func(w *world) {
		e := w.engine(func(c *engine.Config) { c.Store = attended(w.store) })
		in := w.do(e, "a", take("worker", w.do(e, "a", open("a chore")).Instance.Work)).Instance
		promises, told := trusts(e, "judge", "", true) // a claim names its agent
		out := w.take(e, cmd("report", "a", done(in.Tokens)))
		w.sent(told)
		if len(promises) > 0 || out.Promised != "" || out.Instance.Claim != nil {
			t.Errorf("%d promises; the command was answered %+v", len(promises), out)
		}
		w.sound()
	})
}
