package engine_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/memory"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

func TestGetReadsOnesOwnWritesAndThoseOfOthers(t *testing.T) {
	w := newEnv(t)
	one, two := w.engine(), w.engine()
	w.do(one, "a", open("a chore"))
	for i, e := range []*engine.Engine{one, two, one, two} {
		w.do(e, "a", instance.Note{Text: "hm"})
		for name, reader := range map[string]*engine.Engine{"one": one, "two": two} {
			if got, err := reader.Get(t.Context(), "a"); err != nil || len(got.Notes) != i+1 {
				t.Errorf("%s reads %d notes, %v; want %d", name, len(got.Notes), err, i+1)
			}
		}
	}
	if _, err := one.Get(t.Context(), "b"); !errors.Is(err, &instance.Refusal{Code: instance.CodeUnknownInstance}) {
		t.Errorf("an instance that is not there is answered %v", err)
	}
}

func TestGetSaysWhenItCannotKnow(t *testing.T) {
	w := newEnv(t)
	away := errors.New("the log is away")
	store := &faulty{Store: w.store}
	w.store = store
	e := w.engine()
	w.do(e, "a", open("a chore"))
	store.last = func(context.Context, string) (eventstore.Commit, error) { return eventstore.Commit{}, away }
	if _, err := e.Get(t.Context(), "a"); !errors.Is(err, away) {
		t.Errorf("answered %v", err)
	}
}

func TestListHasEverythingThatWasThereWhenItWasAsked(t *testing.T) {
	w := newEnv(t)
	writer := w.engine()
	for _, id := range []string{"b", "a", "c"} {
		w.do(writer, id, open("chore "+id))
	}
	all := func(instance.Instance) bool { return true }
	lagging := w.engine()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := lagging.List(ctx, all); !errors.Is(err, context.Canceled) {
		t.Errorf("before the log was followed it has %v, %v", got, err)
	}
	// It has two of three when it is asked.
	let := make(chan struct{}, 3)
	store := &faulty{Store: w.store, read: func(f func(eventstore.Commit) error) func(eventstore.Commit) error {
		return func(c eventstore.Commit) error { <-let; return f(c) }
	}}
	lagging = w.engine(func(c *engine.Config) { c.Store = store })
	let <- struct{}{}
	let <- struct{}{}
	type answer struct {
		found []instance.Instance
		err   error
	}
	answered := make(chan answer, 2)
	for range cap(answered) {
		go func() {
			found, err := lagging.List(t.Context(), all)
			answered <- answer{found, err}
		}()
	}
	let <- struct{}{}
	w.follow(lagging)
	for range cap(answered) {
		got := <-answered
		var ids []string
		for _, in := range got.found {
			ids = append(ids, in.ID)
		}
		if got.err != nil || !slices.Equal(ids, []string{"a", "b", "c"}) {
			t.Errorf("it has %v, %v", ids, got.err)
		}
	}
	some, err := lagging.List(t.Context(), func(in instance.Instance) bool { return in.ID > "a" })
	if err != nil || len(some) != 2 || some[0].Issue.Title != "chore b" {
		t.Errorf("of those behind a it has %v, %v", some, err)
	}
}

func TestWhatIsClosedIsKeptInOutlineAndLosesNothing(t *testing.T) {
	w := newEnv(t)
	e := w.engine()
	w.follow(e)
	w.finish(e, "a")
	w.refused(e, cmd("late", "a", take("worker", 1)), instance.CodeClosed)
	noted := w.do(e, "a", instance.Note{Text: "thanks"})
	w.handle(w.engine(), cmd("elsewhere", "a", instance.Note{Text: "indeed"}))
	got, err := e.Get(t.Context(), "a")
	if err != nil || got.Issue.Body != "It is broken." || len(got.Notes) != 2 || got.Last == nil || got.Previous.Len() != 2 {
		t.Errorf("it is read as %+v, %v", got, err)
	}
	if noted.Instance.Closed != instance.Ended || noted.Instance.Issue.Body == "" {
		t.Errorf("the note was answered with %+v", noted.Instance)
	}
	listed, err := e.List(t.Context(), func(instance.Instance) bool { return true })
	if err != nil || len(listed) != 1 || listed[0].Issue.Title != "a chore" || listed[0].Seq != 7 || listed[0].Issue.Body != "" {
		t.Errorf("it is listed as %+v, %v", listed, err)
	}
}

func TestFollowingStopsAtDamage(t *testing.T) {
	w := newEnv(t)
	e := w.engine()
	w.finish(e, "a")
	w.do(e, "b", open("another"))
	log := w.commits("a")
	swapped, forged, cut, garbled := log[2], log[2], log[2], log[2]
	swapped.Data = log[1].Data
	forged.Chain = log[1].Chain
	cut.Prev = 1
	garbled.Data = []byte{0xff}
	garbled.Chain = eventstore.NextChain(log[1].Chain, garbled)
	for name, bad := range map[string]eventstore.Commit{
		"another commit's body": swapped, "another commit's chain": forged, "a commit left out": cut, "a body that is none": garbled,
	} {
		t.Run(name, func(t *testing.T) {
			store := &faulty{Store: w.store, read: func(f func(eventstore.Commit) error) func(eventstore.Commit) error {
				return func(c eventstore.Commit) error {
					if c.Seq == bad.Seq {
						return f(bad)
					}
					return f(c)
				}
			}}
			reader := engine.New(engine.Config{Store: store, Definitions: w.defs, Now: w.clock.now})
			if err := reader.Follow(t.Context(), func() { t.Error("it read to the end") }); !errors.Is(err, eventstore.ErrCorrupt) {
				t.Errorf("following ended with %v", err)
			}
		})
	}
}

func TestFollowingOnesOwnWritesChangesNothing(t *testing.T) {
	w := newEnv(t)
	e := w.engine()
	w.follow(e)
	for _, id := range []string{"a", "b"} {
		w.finish(e, id)
	}
	other := w.engine(func(c *engine.Config) { c.Store = w.store })
	w.follow(other)
	for _, reader := range []*engine.Engine{e, other} {
		listed, err := reader.List(t.Context(), func(in instance.Instance) bool { return in.Closed == instance.Ended })
		if err != nil || len(listed) != 2 {
			t.Errorf("it lists %v, %v", listed, err)
		}
	}
	empty := engine.New(engine.Config{Store: memory.New(), Definitions: w.defs, Now: w.clock.now})
	if listed, err := empty.List(t.Context(), func(instance.Instance) bool { return true }); err != nil || len(listed) != 0 {
		t.Errorf("of an empty log it lists %v, %v", listed, err)
	}
}
