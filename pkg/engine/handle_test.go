package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

func TestAStaleViewNeverMakesAFalseRefusal(t *testing.T) {
	w := newEnv(t)
	ahead, behind := w.engine(), w.engine()
	first := w.do(ahead, "a", open("a chore")).Instance
	w.do(behind, "a", instance.Note{Text: "seen"}) // from here on it remembers this moment

	claimed := w.do(ahead, "a", take("worker", first.Work)).Instance
	checked := w.do(ahead, "a", done(claimed.Claim.Token)).Instance
	// What behind remembers would refuse this: another role's state, another work.
	got := w.do(behind, "a", take("judge", checked.Work)).Instance
	if got.State != "check" || got.Claim.Agent != "judge-1" {
		t.Errorf("it is in %s, claimed by %+v", got.State, got.Claim)
	}
	w.refused(ahead, cmd("late", "a", take("judge", checked.Work)), instance.CodeHeld)
}

func TestARefusalThatCannotBeCheckedIsNoAnswer(t *testing.T) {
	w := newEnv(t)
	away := errors.New("the log is away")
	store := &faulty{Store: w.store}
	w.store = store
	e := w.engine()
	w.do(e, "a", open("a chore"))
	other := w.do(e, "b", open("another")).Instance.Work
	store.last = func(context.Context, string) (eventstore.Commit, error) { return eventstore.Commit{}, away }
	_, err := e.Handle(t.Context(), cmd("c", "a", take("worker", other)), "chore")
	if !errors.Is(err, away) || errors.As(err, new(*instance.Refusal)) {
		t.Errorf("answered %v, want no refusal but %v", err, away)
	}
	store.last = nil
	w.refused(e, cmd("c", "a", take("worker", other)), instance.CodeStale)
}

func TestWhoIsAskedWhileTheLogIsAwaySaysSo(t *testing.T) {
	w := newEnv(t)
	w.do(w.engine(), "a", open("a chore"))
	away := errors.New("the log is away")
	w.store = silent{w.store, away}
	for _, id := range []string{"a", "b"} {
		e := w.engine() // which remembers nothing
		if in, err := e.Get(t.Context(), id); !errors.Is(err, away) || in.Exists() {
			t.Errorf("%s is answered %+v, %v", id, in, err)
		}
		for _, do := range []instance.Action{open("b"), take("worker", 1), instance.Note{Text: "seen"}} {
			if _, err := e.Handle(t.Context(), cmd("c", id, do), "chore"); !errors.Is(err, away) {
				t.Errorf("%T of %s is answered %v", do, id, err)
			}
		}
	}
}

// silent is a store that cannot be reached.
type silent struct {
	eventstore.Store
	why error
}

func (s silent) Append(context.Context, eventstore.Commit) (uint64, error) { return 0, s.why }
func (s silent) Last(context.Context, string) (eventstore.Commit, error) {
	return eventstore.Commit{}, s.why
}
func (s silent) Load(context.Context, string) ([]eventstore.Commit, error) { return nil, s.why }
func (s silent) Since(context.Context, string, uint64) ([]eventstore.Commit, error) {
	return nil, s.why
}

func TestARefusalComesWithTheInstanceItIsAbout(t *testing.T) {
	w := newEnv(t)
	e := w.engine()
	work := w.do(e, "a", open("a chore")).Instance.Work
	held := w.do(e, "a", take("worker", work)).Instance
	out, err := e.Handle(t.Context(), cmd("c", "a", instance.Claim{Role: "worker", Agent: "worker-2", Work: work, Lease: time.Minute}), "chore")
	if !errors.Is(err, &instance.Refusal{Code: instance.CodeHeld}) || out.Instance.Claim == nil || !out.Instance.Claim.Lease.Equal(held.Claim.Lease) {
		t.Errorf("answered %+v, %v", out.Instance.Claim, err)
	}
}

func TestWhoLosesARaceDecidesAgain(t *testing.T) {
	w := newEnv(t)
	var conflicts []string
	fast, slow := w.engine(), w.engine(func(c *engine.Config) {
		c.Conflicted = func(in string) { conflicts = append(conflicts, in) }
	})
	w.do(slow, "a", open("a chore"))
	w.do(fast, "a", instance.Pause{Reason: "first"})
	got := w.do(slow, "a", instance.Note{Text: "second"})
	if len(conflicts) != 1 || conflicts[0] != "a" || !got.Instance.Paused || len(got.Instance.Notes) != 1 {
		t.Errorf("conflicts %v, instance %+v", conflicts, got.Instance)
	}
}

func TestACommandThatLosesEveryTryIsNotAnsweredForEver(t *testing.T) {
	w := newEnv(t)
	w.do(w.engine(), "a", open("a chore"))
	store := &faulty{Store: w.store, append: func(context.Context, eventstore.Commit) (uint64, error) { return 0, eventstore.ErrConflict }}
	e := w.engine(func(c *engine.Config) { c.Store = store })
	if _, err := e.Handle(t.Context(), cmd("c", "a", instance.Note{Text: "hm"}), "chore"); !errors.Is(err, engine.ErrContended) || errors.As(err, new(*instance.Refusal)) {
		t.Errorf("answered %v", err)
	}
}

func TestTimeWithinAnInstanceNeverRunsBack(t *testing.T) {
	w := newEnv(t)
	slow := nine()
	slow.advance(-time.Hour)
	right, late := w.engine(), w.engine(func(c *engine.Config) { c.Now = slow.now })
	work := w.do(right, "a", open("a chore")).Instance.Work
	claimed := w.do(late, "a", take("worker", work)).Instance
	if want := w.clock.now(); !claimed.UpdatedAt.Equal(want) || !claimed.Claim.Lease.Equal(want.Add(time.Minute)) {
		t.Errorf("claimed at %s until %s, want at %s for a minute", claimed.UpdatedAt, claimed.Claim.Lease, want)
	}
	w.clock.advance(2 * time.Minute)
	w.do(right, "a", instance.Note{Text: "the lease is over"})
	w.refused(late, cmd("report", "a", done(claimed.Claim.Token)), instance.CodeLapsed)
	for i, c := range w.commits("a")[1:] {
		if before := w.commits("a")[i]; c.Time.Before(before.Time) {
			t.Errorf("commit %d is of %s, the one before of %s", c.Seq, c.Time, before.Time)
		}
	}
}

func TestWhatCanNeverBeStoredIsRefused(t *testing.T) {
	w := newEnv(t)
	e := w.engine()
	w.do(e, "a", open("a chore"))
	w.refused(e, cmd("large", "a", instance.Note{Text: strings.Repeat("x", eventstore.MaxData+1)}), instance.CodeInvalid)
	w.refused(e, cmd("an id with spaces", "a", instance.Note{Text: "hm"}), instance.CodeInvalid)
	w.refused(e, cmd("c", "b", instance.Note{Text: "hm"}), instance.CodeUnknownInstance)
	if _, err := e.Handle(t.Context(), cmd("c", "b", open("a chore")), "chorre"); !errors.Is(err, &instance.Refusal{Code: instance.CodeInvalid}) {
		t.Errorf("an unknown workflow was answered %v", err)
	}
	if n := len(w.commits("a")); n != 1 {
		t.Errorf("the log has %d commits, want 1", n)
	}
}

func TestCommandsOfOneInstanceAreToldOfAsTheyAreMade(t *testing.T) {
	w := newEnv(t)
	var mu sync.Mutex
	var told []string
	e := w.engine(func(c *engine.Config) {
		c.Committed = func(before, after instance.Instance, c instance.Commit) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, fmt.Sprintf("%d %s>%s", c.Seq, before.State, after.State))
		}
	})
	w.do(e, "a", open("a chore"))
	w.handle(e, cmd("twice", "a", instance.Cancel{}))
	w.handle(e, cmd("twice", "a", instance.Cancel{}))
	if diff := cmp.Diff([]string{"1 >todo", "2 todo>todo"}, told); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestWaitingForAnInstancesTurnEndsWithTheContext(t *testing.T) {
	w := newEnv(t)
	entered, leave := make(chan struct{}), make(chan struct{})
	store := &faulty{Store: w.store}
	store.append = func(ctx context.Context, c eventstore.Commit) (uint64, error) {
		if c.ID == "slow" {
			close(entered)
			<-leave
		}
		return store.Store.Append(ctx, c)
	}
	w.store = store
	e := w.engine()
	w.do(e, "a", open("a chore"))
	slow := make(chan error, 1)
	go func() {
		_, err := e.Handle(context.Background(), cmd("slow", "a", instance.Note{Text: "slow"}), "chore")
		slow <- err
	}()
	<-entered
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Handle(ctx, cmd("quick", "a", instance.Note{Text: "quick"}), "chore"); !errors.Is(err, context.Canceled) {
		t.Errorf("answered %v", err)
	}
	w.do(e, "b", open("another")) // others do not wait
	close(leave)
	if err := <-slow; err != nil {
		t.Error(err)
	}
	w.do(e, "a", instance.Note{Text: "next"})
}

func TestACommitCarriesTheTraceItWasMadeUnder(t *testing.T) {
	w := newEnv(t)
	e := w.engine()
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for i, given := range []string{parent, "", "not a trace", parent + "x"} {
		in := fmt.Sprint("i", i)
		if _, err := e.Handle(engine.WithTrace(t.Context(), given), cmd("open-"+in, in, open("a chore")), "chore"); err != nil {
			t.Fatal(err)
		}
		want := ""
		if given == parent {
			want = parent
		}
		if got := w.commits(in)[0].Trace; got != want {
			t.Errorf("under %q the commit carries %q, want %q", given, got, want)
		}
	}
}
