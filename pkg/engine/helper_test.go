package engine_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/memory"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

const chore = `
workflow: chore
version: 1
initial: todo
limits: [{name: enough, when: "instance.returns >= 3", to: done}]
states:
  todo:
    owner: worker
    next: [check, done]
    decide: [{when: "result.status == 'success'", to: check}, {to: done}]
  check:
    owner: judge
    next: [todo, done]
    decide: [{when: "result.status == 'success'", to: done}, {to: todo}]
  done: {final: true}
`

// definitions are those of a test.
type definitions struct{ *workflow.Catalog }

func (d definitions) Hashed(_ context.Context, hash string) (*workflow.Definition, error) {
	if found, ok := d.Catalog.Hashed(hash); ok {
		return found, nil
	}
	return nil, fmt.Errorf("%w: %s", workflow.ErrUnknown, hash)
}

// away are definitions that cannot be read.
type away struct{ definitions }

var errAway = errors.New("the definitions are away")

func (away) Hashed(context.Context, string) (*workflow.Definition, error) { return nil, errAway }

// clock is a clock that tests advance.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func nine() *clock { return &clock{at: time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC)} }

// env is a log, and all that engines on it need.
type env struct {
	*testing.T
	store eventstore.Store
	defs  definitions
	clock *clock
	n     int
}

func newEnv(t *testing.T) *env {
	t.Helper()
	w := &env{T: t, store: memory.New(), defs: definitions{workflow.NewCatalog()}, clock: nine()}
	w.define(chore)
	return w
}

// define adds a lifecycle, or a newer one of the name.
func (e *env) define(source string) *workflow.Definition {
	e.Helper()
	d, err := workflow.Load("a lifecycle", []byte(source))
	if err != nil {
		e.Fatal(err)
	}
	e.defs.Add(d)
	return d
}

// engine returns an engine that knows nothing yet.
func (e *env) engine(change ...func(*engine.Config)) *engine.Engine {
	c := engine.Config{Store: e.store, Definitions: e.defs, Now: e.clock.now}
	for _, f := range change {
		f(&c)
	}
	return engine.New(c)
}

// follow has e follow the log until the test ends.
func (e *env) follow(ev *engine.Engine) {
	e.Helper()
	ctx, stop := context.WithCancel(context.Background())
	caught, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- ev.Follow(ctx, func() { close(caught) }) }()
	e.Cleanup(func() {
		stop()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			e.Errorf("following ended with %v", err)
		}
	})
	<-caught
}

func cmd(id, in string, do instance.Action) instance.Command {
	return instance.Command{ID: id, Instance: in, Actor: "test", Do: do}
}

// do has the command taken, under an id of its own.
func (e *env) do(ev *engine.Engine, in string, do instance.Action) engine.Outcome {
	e.Helper()
	e.n++
	return e.handle(ev, cmd(fmt.Sprintf("do-%d", e.n), in, do))
}

func (e *env) handle(ev *engine.Engine, c instance.Command) engine.Outcome {
	e.Helper()
	out, err := ev.Handle(e.Context(), c, "chore")
	if err != nil {
		e.Fatalf("%T was not taken: %v", c.Do, err)
	}
	return out
}

// refused has the command refused with the code.
func (e *env) refused(ev *engine.Engine, c instance.Command, code instance.Code) {
	e.Helper()
	out, err := ev.Handle(e.Context(), c, "chore")
	if !errors.Is(err, &instance.Refusal{Code: code}) {
		e.Fatalf("%T was answered %+v, %v; want it refused as %s", c.Do, out, err, code)
	}
}

func (e *env) commits(in string) []eventstore.Commit {
	e.Helper()
	all, err := e.store.Load(e.Context(), in)
	if err != nil && !errors.Is(err, eventstore.ErrUnknown) {
		e.Fatal(err)
	}
	return all
}

func open(title string) instance.Open {
	return instance.Open{Issue: instance.Issue{Title: title, Body: "It is broken."}}
}

func take(role string, work uint64) instance.Claim {
	return instance.Claim{Role: role, Agent: role + "-1", Work: work, Lease: time.Minute}
}

func done(token uint64) instance.Report {
	return instance.Report{Token: token, Result: instance.Result{Status: instance.Success, ConfidenceScore: 1}}
}

// finish brings a new instance to its end.
func (e *env) finish(ev *engine.Engine, in string) {
	e.Helper()
	now := e.do(ev, in, open("a chore")).Instance
	for _, role := range []string{"worker", "judge"} {
		now = e.do(ev, in, take(role, now.Work)).Instance
		now = e.do(ev, in, done(now.Claim.Token)).Instance
	}
	if now.Closed != instance.Ended {
		e.Fatalf("it is in %s", now.State)
	}
}

// faulty is a store of which single methods can be replaced.
type faulty struct {
	eventstore.Store
	append func(context.Context, eventstore.Commit) (uint64, error)
	last   func(context.Context, string) (eventstore.Commit, error)
	read   func(f func(eventstore.Commit) error) func(eventstore.Commit) error
}

func (s *faulty) Append(ctx context.Context, c eventstore.Commit) (uint64, error) {
	if s.append != nil {
		return s.append(ctx, c)
	}
	return s.Store.Append(ctx, c)
}

func (s *faulty) Last(ctx context.Context, in string) (eventstore.Commit, error) {
	if s.last != nil {
		return s.last(ctx, in)
	}
	return s.Store.Last(ctx, in)
}

func (s *faulty) Read(ctx context.Context, from uint64, f func(eventstore.Commit) error, caught func()) error {
	if s.read != nil {
		f = s.read(f)
	}
	return s.Store.Read(ctx, from, f, caught)
}
