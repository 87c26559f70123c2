package engine_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/wire"
)

// tailFirst is an engine to which the tail brings whatever is appended before the
// append is answered.
type tailFirst struct {
	*engine.Engine
	before func()                                      // it is sent
	answer func(seq uint64, err error) (uint64, error) // after the tail brought it
}

func newTailFirst(w *env, change ...func(*engine.Config)) *tailFirst {
	nothing := func() {}
	t := &tailFirst{before: nothing, answer: func(seq uint64, err error) (uint64, error) { return seq, err }}
	log := w.store
	store := &faulty{Store: log, append: func(ctx context.Context, c eventstore.Commit) (uint64, error) {
		before := t.before
		t.before = nothing
		before()
		seq, err := log.Append(ctx, c)
		if _, unread := t.List(ctx, func(instance.Instance) bool { return false }); unread != nil {
			return 0, unread
		}
		return t.answer(seq, err)
	}}
	t.Engine = w.engine(append(change, func(c *engine.Config) { c.Store = store })...)
	return t
}

// checkFold checks that an instance, and what the engine knows of it, is what the log says.
func (e *env) checkFold(ev *engine.Engine, got instance.Instance) {
	e.Helper()
	var commits []instance.Commit
	for _, c := range e.commits(got.ID) {
		commit, err := wire.ToCommit(c)
		if err != nil {
			e.Fatal(err)
		}
		commits = append(commits, commit)
	}
	want := instance.Fold(got.ID, commits)
	if d := cmp.Diff(want, got); d != "" {
		e.Errorf("it differs from what the log tells:\n%s", d)
	}
	if known, _ := ev.Known(got.ID); got.Closed == "" && cmp.Diff(want, known) != "" {
		e.Errorf("what it knows differs from what the log tells:\n%s", cmp.Diff(want, known))
	}
}

func TestWhatTheTailBringsFirstIsAsIfItWereAcknowledgedFirst(t *testing.T) {
	w := newEnv(t)
	var told []uint64
	e := newTailFirst(w, func(c *engine.Config) {
		c.Committed = func(before, after instance.Instance, c instance.Commit) {
			if before.Seq >= after.Seq || after.Seq != c.Seq || len(c.Events) == 0 {
				t.Errorf("commit %d is told as from %d to %d", c.Seq, before.Seq, after.Seq)
			}
			told = append(told, c.Seq)
		}
	})
	w.follow(e.Engine)
	w.finish(e.Engine, "a")
	now := w.do(e.Engine, "b", open("another")).Instance
	w.checkFold(e.Engine, w.do(e.Engine, "b", take("worker", now.Work)).Instance)
	w.checkFold(e.Engine, w.do(e.Engine, "b", done(1)).Instance)
	if want := []uint64{1, 2, 3, 4, 5, 6, 7, 8}; !slices.Equal(told, want) {
		t.Errorf("it told of %v, want %v", told, want)
	}
}

func TestWhatTheTailBringsAlthoughTheAppendFailed(t *testing.T) {
	w := newEnv(t)
	e, lost := newTailFirst(w), errors.New("the answer was lost")
	w.follow(e.Engine)
	now := w.do(e.Engine, "a", open("a chore")).Instance
	answer, claim := e.answer, cmd("claim", "a", take("worker", now.Work))
	e.answer = func(uint64, error) (uint64, error) { return 0, lost }
	if _, err := e.Handle(t.Context(), claim, "chore"); !errors.Is(err, lost) {
		t.Fatalf("it was answered %v", err)
	}
	e.answer = answer
	if known, _ := e.Known("a"); known.Claim == nil {
		t.Fatalf("the claim is in the log, and it knows %+v", known)
	}
	if again := w.handle(e.Engine, claim); !again.Duplicate || again.Seq != 2 {
		t.Errorf("the same claim was answered %+v", again)
	}
	w.checkFold(e.Engine, w.do(e.Engine, "a", done(1)).Instance)
}

func TestWhatTheTailBringsInPlaceOfOnesOwn(t *testing.T) {
	w := newEnv(t)
	conflicts := 0
	e := newTailFirst(w, func(c *engine.Config) { c.Conflicted = func(string) { conflicts++ } })
	w.follow(e.Engine)
	other := w.engine()
	w.do(e.Engine, "a", open("a chore"))
	e.before = func() { w.do(other, "a", instance.Note{Text: "another's"}) }
	got := w.do(e.Engine, "a", instance.Note{Text: "its own"}).Instance
	if conflicts != 1 || len(got.Notes) != 2 || got.Notes[0].Text != "another's" {
		t.Errorf("after %d conflicts it has %+v", conflicts, got.Notes)
	}
	w.checkFold(e.Engine, got)
}

// What looks like a commit that is on its way, and is not in all it says, is damage.
func TestWhatTheTailBringsDamaged(t *testing.T) {
	for name, damage := range map[string]func(*eventstore.Commit){
		"body":     func(c *eventstore.Commit) { c.Data = append(slices.Clone(c.Data), 0) },
		"command":  func(c *eventstore.Commit) { c.ID = "another" },
		"time":     func(c *eventstore.Commit) { c.Time = c.Time.Add(time.Second) },
		"state":    func(c *eventstore.Commit) { c.State = "check" },
		"workflow": func(c *eventstore.Commit) { c.Workflow = "task" },
		"kind":     func(c *eventstore.Commit) { c.Wakes = !c.Wakes },
		"chain":    func(c *eventstore.Commit) { c.Chain = eventstore.NextChain("", *c) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			log := w.store
			w.store = &faulty{Store: log, read: func(f func(eventstore.Commit) error) func(eventstore.Commit) error {
				return func(c eventstore.Commit) error {
					if c.Seq == 2 {
						damage(&c)
					}
					return f(c)
				}
			}}
			e := newTailFirst(w)
			caught, ended := make(chan struct{}), make(chan error, 1)
			ctx, stop := context.WithCancel(t.Context())
			go func() { ended <- e.Follow(ctx, func() { close(caught) }); stop() }()
			<-caught
			w.do(e.Engine, "a", open("a chore"))
			_, _ = e.Handle(ctx, cmd("remark", "a", instance.Note{Text: "hm"}), "chore")
			if err := <-ended; !errors.Is(err, eventstore.ErrCorrupt) {
				t.Errorf("following ended with %v", err)
			}
		})
	}
}
