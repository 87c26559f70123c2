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
	store "github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/projection"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/engine/timer"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// maxWait is how long anything may take on a busy machine.
const maxWait = 2 * time.Minute

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

// env is one nats-server and what the orchestrators on it share.
type env struct {
	*testing.T
	server    *natstest.Server
	js        jetstream.JetStream
	defs      definitions
	watermark string
	replicas  int // of each stream
	n         int
}

// newEnv returns an env whose lifecycle is slow with replacements.
func newEnv(t *testing.T, changes ...string) *env {
	t.Helper()
	server, d := natstest.Start(t, natstest.Options{}), load(t, strings.NewReplacer(changes...).Replace(slow))
	return &env{T: t, server: server, js: server.JetStream(t), defs: definitions{d}, watermark: filepath.Join(t.TempDir(), "watermark")}
}

// replica is an engine that follows the log, with the keeper of its timers.
type replica struct {
	*engine.Engine
	env  *env
	stop func()

	seen *projection.Changes
}

// replica starts a replica. It ends with the test, or with stop.
func (e *env) replica(change ...func(*timer.Config, *engine.Engine)) *replica {
	e.Helper()
	js := e.server.JetStream(e)
	log, err := store.Open(e.Context(), js, store.Config{Replicas: e.replicas, Watermark: e.watermark})
	if err != nil {
		e.Fatal(err)
	}
	r := &replica{env: e}
	own := projection.NewChanges()
	r.Engine = engine.New(engine.Config{
		Store: log, Definitions: e.defs, Now: time.Now,
		Committed: func(_, after instance.Instance, _ instance.Commit) { own.Note(after.ID) },
	})
	tc := timer.Config{
		JetStream: js, Definitions: e.defs, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Stream: func(ctx context.Context) (jetstream.Stream, error) { return store.EnsureTimers(ctx, js, e.replicas) },
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
			e.Errorf("following ended with %v", err)
		}
	})
	<-caught
	for _, run := range []func(context.Context) error{k.Keep, k.Fire, k.Fire} {
		actors.Go(func() {
			if err := run(ctx); err != nil {
				e.Errorf("an actor ended with %v", err)
			}
		})
	}
	r.stop = sync.OnceFunc(func() { cancel(); actors.Wait() })
	e.Cleanup(r.stop)
	return r
}

// do sends a command that must be accepted.
func (r *replica) do(in string, do instance.Action) instance.Instance {
	e := r.env
	e.Helper()
	e.n++
	out, err := r.Handle(e.Context(), instance.Command{ID: fmt.Sprintf("do-%d", e.n), Instance: in, Actor: "test", Do: do}, "slow")
	if err != nil {
		e.Fatalf("%T was not taken: %v", do, err)
	}
	return out.Instance
}

func (r *replica) open(in string) instance.Instance {
	r.env.Helper()
	return r.do(in, instance.Open{Issue: instance.Issue{Title: "slow"}})
}

// report claims and reports on the work of the state.
func (r *replica) report(in string, status instance.Status) instance.Instance {
	r.env.Helper()
	now, err := r.Get(r.env.Context(), in)
	if err != nil {
		r.env.Fatal(err)
	}
	claim := r.do(in, instance.Claim{Role: "worker", Agent: "w", Work: now.Work, Lease: time.Minute}).Claim
	return r.do(in, instance.Report{Token: claim.Token, Result: instance.Result{Status: status, ConfidenceScore: 1}})
}

// await polls the instance until holds returns true.
func (r *replica) await(in, what string, holds func(instance.Instance) bool) instance.Instance {
	e := r.env
	e.Helper()
	ctx, cancel := context.WithTimeout(e.Context(), maxWait)
	defer cancel()
	for {
		now, err := r.Get(ctx, in)
		if err == nil && holds(now) {
			return now
		}
		select {
		case <-ctx.Done():
			e.Fatalf("%s: %s did not come: %+v, %v", in, what, now, err)
		case <-r.seen.More():
		}
	}
}

func (r *replica) level(in string, level workflow.Level) instance.Instance {
	r.env.Helper()
	return r.await(in, string(level), func(now instance.Instance) bool { return now.Level == level })
}

// timeouts returns the recorded deadlines of the instance after a commit, and fails
// if one is early.
func (e *env) timeouts(in string, since uint64) []workflow.Level {
	e.Helper()
	log, err := store.Open(e.Context(), e.js, store.Config{Watermark: e.watermark})
	if err != nil {
		e.Fatal(err)
	}
	commits, err := log.Load(e.Context(), in)
	if err != nil {
		e.Fatal(err)
	}
	var all []workflow.Level
	now := instance.Instance{ID: in}
	for _, stored := range commits {
		c, err := wire.ToCommit(stored)
		if err != nil {
			e.Fatal(err)
		}
		state, _ := e.defs.State(now.State)
		for _, event := range c.Events {
			if out, ok := event.(instance.TimedOut); ok && c.Seq > since {
				all = append(all, out.Level)
				i := slices.IndexFunc(e.defs.Deadlines(state), func(d workflow.Deadline) bool { return d.Level == out.Level })
				if after := e.defs.Deadlines(state)[i].After; c.At.Sub(now.EnteredAt) < after {
					e.Errorf("%s of %s came after %s, want at least %s", out.Level, in, c.At.Sub(now.EnteredAt), after)
				}
			}
		}
		now = instance.Evolve(now, c)
	}
	return all
}

// body is the body of a timer's message.
type body struct {
	Due     time.Time
	Entered uint64
	Level   workflow.Level
	Seq     uint64
}

// awaitArmed returns when n timers are armed.
func (e *env) awaitArmed(n int) {
	e.Helper()
	e.awaitTimers(fmt.Sprint(n, " timers"), func(armed map[string]body) bool { return len(armed) == n })
}

// awaitTimers polls the armed timers, by subject, until holds returns true.
func (e *env) awaitTimers(what string, holds func(map[string]body) bool) {
	e.Helper()
	ctx, cancel := context.WithTimeout(e.Context(), maxWait)
	defer cancel()
	for {
		armed, err := e.armed(ctx)
		if err == nil && holds(armed) {
			return
		}
		if ctx.Err() != nil {
			e.Fatalf("waiting are %v, %v, want %s", armed, err, what)
		}
	}
}

func (e *env) armed(ctx context.Context) (map[string]body, error) {
	stream, err := e.js.Stream(ctx, subject.TimerStream)
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
