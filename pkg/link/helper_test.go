package link_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine"
	store "github.com/signalbox/signalbox/pkg/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/link"
	"github.com/signalbox/signalbox/pkg/wire"
	"github.com/signalbox/signalbox/pkg/workflow"
)

// patience is how long anything may take on a busy machine.
const patience = 2 * time.Minute

const parent = `
workflow: parent
version: 1
initial: make
vars: {priority: 7, word: none, size: big, own: mine}
states:
  make:
    owner: worker
    next: [make, hand]
    decide: [{when: result.status == 'failure', to: make}, {to: hand, set: {word: hello}}]
  hand:
    spawns: [{workflow: child, state: late, reason: go on}]
    next: [good, bad]
    on:
      ended: [{when: "signal.data['well'] == 'true'", to: good}, {to: bad, failure: true}]
  good: {final: true}
  bad: {final: true}
`

const child = `
workflow: child
version: 1
initial: early
entries: [late]
vars: {priority: 1, word: "", size: 1, other: 3}
states:
  early: {owner: worker, next: [late], decide: [{to: late}]}
  late:
    owner: worker
    next: [done, broken]
    decide: [{when: result.status == 'success', to: done}, {to: broken, failure: true}]
  done: {final: true}
  broken: {final: true}
`

const chain = `
workflow: chain
version: 1
initial: pending
states:
  pending: {next: [doing], always: [{when: instance.waiting_on == 0, to: doing}]}
  doing:
    owner: worker
    next: [done, broken]
    decide: [{when: result.status == 'success', to: done}, {to: broken, failure: true}]
  done: {final: true, spawns: [{when: "issue.title == 'more'", workflow: child, state: late}]}
  broken: {final: true}
`

// definitions are those a process has.
type definitions []*workflow.Definition

func (d definitions) Named(name string) (*workflow.Definition, error) {
	if i := slices.IndexFunc(d, func(d *workflow.Definition) bool { return d.Name == name }); i >= 0 {
		return d[i], nil
	}
	return nil, fmt.Errorf("%w: %q", workflow.ErrUnknown, name)
}

func (d definitions) Hashed(_ context.Context, hash string) (*workflow.Definition, error) {
	if i := slices.IndexFunc(d, func(d *workflow.Definition) bool { return d.Hash == hash }); i >= 0 {
		return d[i], nil
	}
	return nil, fmt.Errorf("%w: %s", workflow.ErrUnknown, hash)
}

func load(t *testing.T, sources ...string) definitions {
	t.Helper()
	var all definitions
	for _, source := range sources {
		d, err := workflow.Load("test.yaml", []byte(source))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, d)
	}
	return all
}

// world is one nats-server.
type world struct {
	*testing.T
	server *natstest.Server
	mark   string
	n      int
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return &world{T: t, server: natstest.Start(t, natstest.Options{}), mark: filepath.Join(t.TempDir(), "watermark")}
}

// replica is an engine that follows the log and links instances.
type replica struct {
	*engine.Engine
	world *world
	store *store.Store
	seen  *engine.Changes
	stop  func()
}

// replica starts one; it ends with the test, or with stop.
func (w *world) replica(sources ...string) *replica {
	w.Helper()
	if len(sources) == 0 {
		sources = []string{parent, child, chain}
	}
	defs := load(w.T, sources...)
	log, err := store.Open(w.Context(), w.server.JetStream(w), store.Config{Watermark: w.mark})
	if err != nil {
		w.Fatal(err)
	}
	r := &replica{world: w, store: log, Engine: engine.New(engine.Config{Store: log, Definitions: defs, Now: time.Now})}
	r.seen = r.Changes()
	l := link.New(link.Config{Engine: r, Definitions: defs, Changes: r.Changes(), Log: slog.New(slog.DiscardHandler)})
	ctx, cancel := context.WithCancel(context.Background())
	var actors sync.WaitGroup
	caught := make(chan struct{})
	actors.Go(func() {
		if err := r.Follow(ctx, func() { close(caught) }); !errors.Is(err, context.Canceled) {
			w.Errorf("following ended with %v", err)
		}
	})
	<-caught
	actors.Go(func() {
		if err := l.Run(ctx); err != nil {
			w.Errorf("linking ended with %v", err)
		}
	})
	r.stop = sync.OnceFunc(func() { cancel(); actors.Wait() })
	w.Cleanup(r.stop)
	return r
}

func (r *replica) do(in, lifecycle string, do instance.Action) instance.Instance {
	w := r.world
	w.Helper()
	w.n++
	out, err := r.Handle(w.Context(), instance.Command{ID: fmt.Sprintf("do-%d", w.n), Instance: in, Actor: "test", Do: do}, lifecycle)
	if err != nil {
		w.Fatalf("%T was not taken: %v", do, err)
	}
	return out.Instance
}

func (r *replica) open(in, lifecycle string, after ...string) instance.Instance {
	r.world.Helper()
	return r.do(in, lifecycle, instance.Open{Issue: instance.Issue{Title: "t", Repo: "acme/widgets", Number: 7}, After: after})
}

// report has the worker report on the work of the state.
func (r *replica) report(in string, result instance.Result) instance.Instance {
	r.world.Helper()
	now, err := r.Get(r.world.Context(), in)
	if err != nil {
		r.world.Fatal(err)
	}
	if result.Status == "" {
		result.Status = instance.Success
	}
	claim := r.do(in, "", instance.Claim{Role: "worker", Agent: "w", Work: now.Work, Lease: time.Minute}).Claim
	return r.do(in, "", instance.Report{Token: claim.Token, Result: result})
}

// until waits until the instance is as it should be.
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
			w.Fatalf("%s never was %s: %+v, %v", in, what, now, err)
		case <-r.seen.More():
		}
	}
}

func (r *replica) in(in, state string) instance.Instance {
	r.world.Helper()
	return r.until(in, "in "+state, func(now instance.Instance) bool { return now.State == state })
}

// commits returns how many commits of the instance have an event of the kind of E.
func commits[E instance.Event](r *replica, in string) int {
	r.world.Helper()
	all, err := r.store.Load(r.world.Context(), in)
	if err != nil {
		r.world.Fatal(err)
	}
	n := 0
	for _, stored := range all {
		c, err := wire.ToCommit(stored)
		if err != nil {
			r.world.Fatal(err)
		}
		if slices.ContainsFunc(c.Events, func(e instance.Event) bool { _, ok := e.(E); return ok }) {
			n++
		}
	}
	return n
}
