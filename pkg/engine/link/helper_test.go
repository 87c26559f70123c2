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
	store "github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/link"
	"github.com/signalbox/signalbox/pkg/engine/projection"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// maxWait is how long anything may take on a busy machine.
const maxWait = 2 * time.Minute

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

// definitions are the definitions of one process.
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

// env is one nats-server.
type env struct {
	*testing.T
	server    *natstest.Server
	watermark string
	n         int
}

func newEnv(t *testing.T) *env {
	t.Helper()
	return &env{T: t, server: natstest.Start(t, natstest.Options{}), watermark: filepath.Join(t.TempDir(), "watermark")}
}

// replica is an engine that follows the log and links instances.
type replica struct {
	*engine.Engine
	env   *env
	store *store.Store
	seen  *projection.Changes
	stop  func()
}

// replica starts a replica. It ends with the test, or with stop.
func (e *env) replica(sources ...string) *replica {
	e.Helper()
	if len(sources) == 0 {
		sources = []string{parent, child, chain}
	}
	defs := load(e.T, sources...)
	log, err := store.Open(e.Context(), e.server.JetStream(e), store.Config{Watermark: e.watermark})
	if err != nil {
		e.Fatal(err)
	}
	r := &replica{env: e, store: log, Engine: engine.New(engine.Config{Store: log, Definitions: defs, Now: time.Now})}
	r.seen = r.Changes()
	l := link.New(link.Config{Engine: r, Definitions: defs, Changes: r.Changes(), Log: slog.New(slog.DiscardHandler)})
	ctx, cancel := context.WithCancel(context.Background())
	var actors sync.WaitGroup
	caught := make(chan struct{})
	actors.Go(func() {
		if err := r.Follow(ctx, func() { close(caught) }); !errors.Is(err, context.Canceled) {
			e.Errorf("following ended with %v", err)
		}
	})
	<-caught
	actors.Go(func() {
		if err := l.Run(ctx); err != nil {
			e.Errorf("linking ended with %v", err)
		}
	})
	r.stop = sync.OnceFunc(func() { cancel(); actors.Wait() })
	e.Cleanup(r.stop)
	return r
}

func (r *replica) do(in, lifecycle string, do instance.Action) instance.Instance {
	e := r.env
	e.Helper()
	e.n++
	out, err := r.Handle(e.Context(), instance.Command{ID: fmt.Sprintf("do-%d", e.n), Instance: in, Actor: "test", Do: do}, lifecycle)
	if err != nil {
		e.Fatalf("%T was not taken: %v", do, err)
	}
	return out.Instance
}

func (r *replica) open(in, lifecycle string, after ...string) instance.Instance {
	r.env.Helper()
	return r.do(in, lifecycle, instance.Open{Issue: instance.Issue{Title: "t", Repo: "acme/widgets", Number: 7}, After: after})
}

// report claims and reports on the work of the state.
func (r *replica) report(in string, result instance.Result) instance.Instance {
	r.env.Helper()
	now, err := r.Get(r.env.Context(), in)
	if err != nil {
		r.env.Fatal(err)
	}
	if result.Status == "" {
		result.Status = instance.Success
	}
	claim := r.do(in, "", instance.Claim{Role: "worker", Agent: "w", Work: now.Work, Lease: time.Minute}).Claim
	return r.do(in, "", instance.Report{Token: claim.Token, Result: result})
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
			e.Fatalf("%s never was %s: %+v, %v", in, what, now, err)
		case <-r.seen.More():
		}
	}
}

func (r *replica) in(in, state string) instance.Instance {
	r.env.Helper()
	return r.await(in, "in "+state, func(now instance.Instance) bool { return now.State == state })
}

// commits returns how many commits of the instance have an event of the kind of E.
func commits[E instance.Event](r *replica, in string) int {
	r.env.Helper()
	all, err := r.store.Load(r.env.Context(), in)
	if err != nil {
		r.env.Fatal(err)
	}
	n := 0
	for _, stored := range all {
		c, err := wire.ToCommit(stored)
		if err != nil {
			r.env.Fatal(err)
		}
		if slices.ContainsFunc(c.Events, func(e instance.Event) bool { _, ok := e.(E); return ok }) {
			n++
		}
	}
	return n
}
