package engine_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

func TestADuplicateIsAnsweredAsTheFirst(t *testing.T) {
	w := newEnv(t)
	appends := map[string]int{}
	store := &faulty{Store: w.store}
	store.append = func(ctx context.Context, c eventstore.Commit) (uint64, error) {
		appends[c.ID]++
		return store.Store.Append(ctx, c)
	}
	w.store = store
	e := w.engine()
	work := w.do(e, "a", open("a chore")).Instance.Work
	claim := cmd("claim", "a", take("worker", work))
	first := w.handle(e, claim)
	same := func(name string, e *engine.Engine) {
		t.Run(name, func(t *testing.T) {
			got := w.handle(e, claim)
			if got.Seq != first.Seq || !got.Duplicate || cmp.Diff(first.Events, got.Events) != "" {
				t.Errorf("answered %d, duplicate %v, %v; want %d, %v", got.Seq, got.Duplicate, got.Events, first.Seq, first.Events)
			}
			if n := len(w.commits("a")); n != int(got.Instance.Seq) {
				t.Errorf("the log has %d commits, the instance is told to be at %d", n, got.Instance.Seq)
			}
		})
	}
	same("at once", e)
	same("by an engine that knows nothing", w.engine())
	w.do(e, "a", done(1))
	same("when it would be refused by now", e)
	for i := range 50 {
		w.do(e, "a", instance.Note{Text: fmt.Sprint("remark ", i)})
	}
	same("long after", e)
	follower := w.engine()
	w.follow(follower)
	same("by an engine that followed", follower)
	w.do(e, "a", instance.Cancel{})
	same("when nothing moves the instance any more", e)
	if appends["claim"] != 1 {
		t.Errorf("it was appended %d times: a store forgets ids after two minutes", appends["claim"])
	}
}

func TestAnIDThatAnotherInstanceSpentIsRefused(t *testing.T) {
	w := newEnv(t)
	e := w.engine()
	w.handle(e, cmd("once", "a", open("a chore")))
	w.do(e, "b", open("another"))
	w.refused(e, cmd("once", "b", instance.Note{Text: "hm"}), instance.CodeInvalid)
	w.refused(e, cmd("once", "c", open("a third")), instance.CodeInvalid)
	if len(w.commits("b")) != 1 || len(w.commits("c")) != 0 {
		t.Error("something was recorded")
	}
}

func TestAnIDThatLooksLikeASpentOneIsTaken(t *testing.T) {
	one, two := collision()
	w := newEnv(t)
	e := w.engine()
	w.do(e, "a", open("a chore"))
	w.handle(e, cmd(one, "a", instance.Note{Text: "one"}))
	if got := w.handle(e, cmd(two, "a", instance.Note{Text: "two"})); got.Duplicate || len(got.Instance.Notes) != 2 {
		t.Errorf("%s after %s was answered %+v", two, one, got)
	}
}

// collision returns two ids with the same 32-bit FNV-1a hash.
func collision() (string, string) {
	seen := map[uint32]string{}
	for i := 0; ; i++ {
		id := fmt.Sprint("id-", i)
		h := fnv.New32a()
		h.Write([]byte(id))
		if other, ok := seen[h.Sum32()]; ok {
			return other, id
		}
		seen[h.Sum32()] = id
	}
}

// The answer to a command got lost, and it is sent again, to whoever is there,
// while the first one may still be under way.
func TestOneCommandThroughManyEnginesAtOnceIsTakenOnce(t *testing.T) {
	w := newEnv(t)
	w.do(w.engine(), "a", open("a chore"))
	engines := make([]*engine.Engine, 4)
	for i := range engines {
		own := nine()
		own.advance(time.Duration(i) * time.Second) // clocks differ
		engines[i] = w.engine(func(c *engine.Config) { c.Now = own.now })
		if i%2 == 0 {
			w.follow(engines[i])
		}
	}
	for round := range 20 {
		c := cmd(fmt.Sprint("round-", round), "a", instance.Note{Text: fmt.Sprint("remark ", round)})
		outcomes := make([]engine.Outcome, 16)
		var all sync.WaitGroup
		for i := range outcomes {
			all.Go(func() {
				var err error
				if outcomes[i], err = engines[i%len(engines)].Handle(t.Context(), c, "chore"); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		firsts := 0
		for _, out := range outcomes {
			if out.Seq != outcomes[0].Seq || cmp.Diff(out.Events, outcomes[0].Events) != "" {
				t.Fatalf("one was told %d, another %d", outcomes[0].Seq, out.Seq)
			}
			if !out.Duplicate {
				firsts++
			}
		}
		// More than one, if two decide the very same at the very same moment:
		// that looks like one's own append, tried again.
		if firsts == 0 {
			t.Fatal("nobody was told to be the first")
		}
	}
	if n := len(w.commits("a")); n != 21 {
		t.Errorf("the log has %d commits, want 21", n)
	}
}

// Between the try that was stored and the one that is answered the process died.
func TestACommandWhoseAnswerWasLostIsFoundInTheLog(t *testing.T) {
	w := newEnv(t)
	w.do(w.engine(), "a", open("a chore"))
	lost := errors.New("lost")
	store := &faulty{Store: w.store}
	store.append = func(ctx context.Context, c eventstore.Commit) (uint64, error) {
		if _, err := store.Store.Append(ctx, c); err != nil {
			return 0, err
		}
		store.append = nil
		return 0, lost
	}
	e := w.engine(func(c *engine.Config) { c.Store = store })
	c := cmd("c", "a", instance.Note{Text: "hm"})
	if _, err := e.Handle(t.Context(), c, "chore"); !errors.Is(err, lost) {
		t.Fatalf("answered %v", err)
	}
	w.clock.advance(1)
	if got := w.handle(e, c); !got.Duplicate || got.Seq != 2 || len(w.commits("a")) != 2 {
		t.Errorf("answered %+v", got)
	}
}
