package timer_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine"
	store "github.com/signalbox/signalbox/pkg/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/subject"
	"github.com/signalbox/signalbox/pkg/timer"
	"github.com/signalbox/signalbox/pkg/wire"
	"github.com/signalbox/signalbox/pkg/workflow"
)

// patience is how long anything may take on a busy machine.
const patience = 2 * time.Minute

const slow = `
workflow: slow
version: 1
initial: todo
states:
  todo:
    owner: worker
    timeout: 3s
    next: [calm, done]
    decide: [{when: result.status == 'success', to: calm}, {when: result.status == 'blocked', stay: 2s}, {to: done}]
  calm:
    owner: worker
    next: [todo, done]
    decide: [{when: result.status == 'success', to: todo}, {to: done}]
  done: {final: true}
`

func load(t testing.TB, source string) *workflow.Definition {
	t.Helper()
	d, err := workflow.Load("slow.yaml", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

type definitions struct{ *workflow.Definition }

func (d definitions) Named(string) (*workflow.Definition, error) { return d.Definition, nil }
func (d definitions) Hashed(context.Context, string) (*workflow.Definition, error) {
	return d.Definition, nil
}

// world is one nats-server and what any number of orchestrators on it share.
type world struct {
	*testing.T
	server *natstest.Server
	js     jetstream.JetStream
	defs   definitions
	mark   string
	copies int // of each stream
	n      int
}

// newWorld is one of slow, with replacements.
func newWorld(t *testing.T, changes ...string) *world {
	t.Helper()
	server, d := natstest.Start(t, natstest.Options{}), load(t, strings.NewReplacer(changes...).Replace(slow))
	return &world{T: t, server: server, js: server.JetStream(t), defs: definitions{d}, mark: filepath.Join(t.TempDir(), "watermark")}
}

// replica is an engine that follows the log, and the keeper of its timers.
type replica struct {
	*engine.Engine
	world *world
	stop  func()

	seen *engine.Changes
}

// replica starts one; it ends with the test, or with stop.
func (w *world) replica(change ...func(*timer.Config, *engine.Engine)) *replica {
	w.Helper()
	js := w.server.JetStream(w)
	log, err := store.Open(w.Context(), js, store.Config{Replicas: w.copies, Watermark: w.mark})
	if err != nil {
		w.Fatal(err)
	}
	r := &replica{world: w}
	own := engine.NewChanges()
	r.Engine = engine.New(engine.Config{
		Store: log, Definitions: w.defs, Now: time.Now,
		Committed: func(_, after instance.Instance, _ instance.Commit) { own.Note(after.ID) },
	})
	tc := timer.Config{
		JetStream: js, Definitions: w.defs, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Stream: func(ctx context.Context) (jetstream.Stream, error) { return store.EnsureTimers(ctx, js, w.copies) },
	}
	for _, f := range change {
		f(&tc, r.Engine)
	}
	if tc.Engine == nil {
		tc.Engine = r.Engine
	}
	tc.Own, tc.Followed, r.seen = own, r.Changes(), r.Changes()
	k := timer.New(tc)
	ctx, cancel := context.WithCancel(context.Background())
	var actors sync.WaitGroup
	caught := make(chan struct{})
	actors.Go(func() {
		if err := r.Follow(ctx, func() { close(caught) }); !errors.Is(err, context.Canceled) {
			w.Errorf("following ended with %v", err)
		}
	})
	<-caught
	for _, run := range []func(context.Context) error{k.Keep, k.Fire, k.Fire} {
		actors.Go(func() {
			if err := run(ctx); err != nil {
				w.Errorf("an actor ended with %v", err)
			}
		})
	}
	r.stop = sync.OnceFunc(func() { cancel(); actors.Wait() })
	w.Cleanup(r.stop)
	return r
}

// do has the command taken.
func (r *replica) do(in string, do instance.Action) instance.Instance {
	w := r.world
	w.Helper()
	w.n++
	out, err := r.Handle(w.Context(), instance.Command{ID: fmt.Sprintf("do-%d", w.n), Instance: in, Actor: "test", Do: do}, "slow")
	if err != nil {
		w.Fatalf("%T was not taken: %v", do, err)
	}
	return out.Instance
}

func (r *replica) open(in string) instance.Instance {
	r.world.Helper()
	return r.do(in, instance.Open{Issue: instance.Issue{Title: "slow"}})
}

// report has the worker do the work of the state.
func (r *replica) report(in string, status instance.Status) instance.Instance {
	r.world.Helper()
	now, err := r.Get(r.world.Context(), in)
	if err != nil {
		r.world.Fatal(err)
	}
	claim := r.do(in, instance.Claim{Role: "worker", Agent: "w", Work: now.Work, Lease: time.Minute}).Claim
	return r.do(in, instance.Report{Token: claim.Token, Result: instance.Result{Status: status, ConfidenceScore: 1}})
}

// until asks for the instance until holds does.
func (r *replica) until(in, what string, holds func(instance.Instance) bool) instance.Instance {
	w := r.world
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), patience)
	defer cancel()
	for {
		now, err := r.Get(ctx, in)
		if err == nil && holds(now) {
			return now
		}
		select {
		case <-ctx.Done():
			w.Fatalf("%s: %s did not come: %+v, %v", in, what, now, err)
		case <-r.seen.More():
		}
	}
}

func (r *replica) level(in string, level workflow.Level) instance.Instance {
	r.world.Helper()
	return r.until(in, string(level), func(now instance.Instance) bool { return now.Level == level })
}

// timeouts returns the deadlines in the log of the instance after a commit, and
// fails if one is early.
func (w *world) timeouts(in string, since uint64) []workflow.Level {
	w.Helper()
	log, err := store.Open(w.Context(), w.js, store.Config{Watermark: w.mark})
	if err != nil {
		w.Fatal(err)
	}
	commits, err := log.Load(w.Context(), in)
	if err != nil {
		w.Fatal(err)
	}
	var all []workflow.Level
	now := instance.Instance{ID: in}
	for _, stored := range commits {
		c, err := wire.ToCommit(stored)
		if err != nil {
			w.Fatal(err)
		}
		state, _ := w.defs.State(now.State)
		for _, e := range c.Events {
			if out, ok := e.(instance.TimedOut); ok && c.Seq > since {
				all = append(all, out.Level)
				i := slices.IndexFunc(w.defs.Deadlines(state), func(d workflow.Deadline) bool { return d.Level == out.Level })
				if after := w.defs.Deadlines(state)[i].After; c.At.Sub(now.EnteredAt) < after {
					w.Errorf("%s of %s came after %s, want at least %s", out.Level, in, c.At.Sub(now.EnteredAt), after)
				}
			}
		}
		now = instance.Evolve(now, c)
	}
	return all
}

// body is what the message of a timer says.
type body struct {
	Due     time.Time
	Entered uint64
	Level   workflow.Level
	Seq     uint64
}

// waits returns when n timers wait for their time.
func (w *world) waits(n int) {
	w.Helper()
	w.until(fmt.Sprint(n, " timers"), func(armed map[string]body) bool { return len(armed) == n })
}

// until asks for the timers that wait, by subject, until holds does.
func (w *world) until(what string, holds func(map[string]body) bool) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), patience)
	defer cancel()
	for {
		armed, err := w.waiting(ctx)
		if err == nil && holds(armed) {
			return
		}
		if ctx.Err() != nil {
			w.Fatalf("waiting are %v, %v, want %s", armed, err, what)
		}
	}
}

func (w *world) waiting(ctx context.Context) (map[string]body, error) {
	stream, err := w.js.Stream(ctx, subject.TimerStream)
	if err != nil {
		return nil, err
	}
	info, err := stream.Info(ctx, jetstream.WithSubjectFilter(subject.ArmedTimers))
	if err != nil {
		return nil, err
	}
	armed := map[string]body{}
	for s := range info.State.Subjects {
		msg, err := stream.GetLastMsgForSubject(ctx, s)
		if err != nil {
			return nil, err
		}
		var b body
		if err := json.Unmarshal(msg.Data, &b); err != nil {
			return nil, err
		}
		armed[s] = b
	}
	return armed, nil
}
