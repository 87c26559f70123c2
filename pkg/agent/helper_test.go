package agent_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/orchestrator/orchestratortest"
)

// env is a NATS server, an orchestrator, and a person at a client.
type env struct {
	*testing.T
	ctx      context.Context // ends a test that hangs
	server   *natstest.Server
	settings orchestratortest.Settings
	stop     func() // the orchestrator
	client   *client.Client
	js       jetstream.JetStream
}

// newEnv starts an orchestrator whose queues deliver work again after the lease.
func newEnv(t *testing.T, lease time.Duration) *env {
	t.Helper()
	w := newBareEnv(t)
	w.settings = orchestratortest.Settings{AckWait: lease}
	w.resume()
	w.client = client.New(w.server.Connect(t), "operator:ann")
	return w
}

// resume starts the orchestrator.
func (e *env) resume() {
	e.Helper()
	e.stop = orchestratortest.Start(e.T, e.server.URL, 1, e.settings)
}

// works does what it is told: it implements agent.Handler.
type works func(ctx context.Context, job agent.Job) (instance.Result, error)

func (f works) Work(ctx context.Context, job agent.Job) (instance.Result, error) { return f(ctx, job) }

func success() instance.Result {
	return instance.Result{Status: instance.Success, ConfidenceScore: 1, Summary: "done"}
}

func succeed(context.Context, agent.Job) (instance.Result, error) { return success(), nil }

// ended is what an observer was told at the end of a piece of work.
type ended struct {
	job    agent.Job
	result instance.Result
	err    error
}

// worker is a running agent.
type worker struct {
	*agent.Agent
	nc    *nats.Conn
	ended chan ended
	logs  chan slog.Record
	end   context.CancelFunc
	stop  func() // ends it and waits
}

// agent starts one as pm, the role that a new issue comes to first.
func (e *env) agent(name string, h agent.Handler, change ...func(*agent.Config)) *worker {
	e.Helper()
	nc := e.server.Connect(e.T)
	js, err := jetstream.New(nc)
	if err != nil {
		e.Fatal(err)
	}
	k := &worker{nc: nc, ended: make(chan ended, 1000), logs: make(chan slog.Record, 1000)}
	c := agent.Config{
		Role: "pm", Name: name, JetStream: js, Client: client.New(nc, name), Handler: h,
		Log: slog.New(recorder{k.logs}), Observer: observer{k.ended},
	}
	for _, f := range change {
		f(&c)
	}
	k.Agent = agent.New(c)
	ctx, cancel := context.WithCancel(context.Background())
	k.end = cancel
	done := make(chan error, 1)
	go func() { done <- k.Run(ctx) }()
	k.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			e.Errorf("%s ended with %v", name, err)
		}
	})
	e.Cleanup(k.stop)
	return k
}

type observer struct{ ends chan ended }

func (observer) Started(agent.Job)            {}
func (observer) Progressed(agent.Job, string) {}
func (o observer) Ended(job agent.Job, r instance.Result, err error, _ time.Duration) {
	o.ends <- ended{job, r, err}
}

// recorder sends what is logged to a channel. It implements slog.Handler.
type recorder struct{ to chan slog.Record }

func (recorder) Enabled(context.Context, slog.Level) bool { return true }
func (r recorder) Handle(_ context.Context, rec slog.Record) error {
	select {
	case r.to <- rec:
	default: // nobody reads it
	}
	return nil
}
func (r recorder) WithAttrs([]slog.Attr) slog.Handler { return r }
func (r recorder) WithGroup(string) slog.Handler      { return r }

// logged waits for a message in the log of k.
func (e *env) logged(k *worker, message string) {
	e.Helper()
	for rec := range take(e, k.logs) {
		if rec.Message == message {
			return
		}
	}
}

// take yields what comes until the test has run for too long.
func take[T any](w *env, c <-chan T) func(yield func(T) bool) {
	return func(yield func(T) bool) {
		for {
			select {
			case v := <-c:
				if !yield(v) {
					return
				}
			case <-w.ctx.Done():
				w.Helper()
				w.Fatal("waited for too long")
			}
		}
	}
}

// next waits for one.
func next[T any](w *env, c <-chan T) T {
	w.Helper()
	select {
	case v := <-c:
		return v
	case <-w.ctx.Done():
		w.Fatal("waited for too long")
		panic("not reached")
	}
}

// open starts an issue and returns the work it dispatched.
func (e *env) open(id string) uint64 {
	e.Helper()
	reply, err := e.client.Open(e.ctx, "", "issue", id, instance.Issue{Title: "title of " + id})
	if err != nil {
		e.Fatal(err)
	}
	return reply.GetInstance().GetWork()
}

// start opens an instance of another lifecycle, on code that is known.
func (e *env) start(workflow, id string) {
	e.Helper()
	if _, err := e.client.OpenWith(e.ctx, "", id, &pb.Open{Workflow: workflow, Issue: &pb.Issue{Title: "title of " + id}, Base: "c0"}); err != nil {
		e.Fatal(err)
	}
}

// as has an agent work for another role.
func as(role string) func(*agent.Config) { return func(c *agent.Config) { c.Role = role } }

// claim takes the work as a person who is no agent of the runtime.
func (e *env) claim(id, agent string, work uint64, lease time.Duration) uint64 {
	e.Helper()
	reply, err := e.client.DoAs(e.ctx, "pm", "claim", &pb.Command{Instance: id, Action: &pb.Command_Claim{
		Claim: &pb.Claim{Agent: agent, Work: work, LeaseMs: uint32(lease.Milliseconds())}}})
	if err != nil {
		e.Fatal(err)
	}
	return uint64(reply.GetToken())
}

// until returns the events of the instance up to the first that stop holds for.
func (e *env) until(id string, stop func(instance.Event) bool) []instance.Event {
	e.Helper()
	var all []instance.Event
	err := e.client.Watch(e.ctx, id, 0, func(s client.LogEntry) error {
		for _, ev := range s.Events {
			if all = append(all, ev); stop(ev) {
				return client.ErrStopWatch
			}
		}
		return nil
	})
	if err != nil {
		e.Fatalf("of %s there came %s: %v", id, names(all), err)
	}
	return all
}

// moved stops at the first move.
func moved(e instance.Event) bool { _, ok := e.(instance.Moved); return ok }

// reported stops at the first result.
func reported(e instance.Event) bool { _, ok := e.(instance.Reported); return ok }

// of returns the events of one kind.
func of[E instance.Event](all []instance.Event) []E {
	var some []E
	for _, e := range all {
		if e, ok := e.(E); ok {
			some = append(some, e)
		}
	}
	return some
}

// names spells events for people.
func names(all []instance.Event) (out []string) {
	for _, e := range all {
		switch e := e.(type) {
		case instance.Claimed:
			out = append(out, "claimed by "+e.Agent)
		case instance.LeaseExtended:
		case instance.Dispatched:
			out = append(out, "dispatched")
		case instance.Released:
			out = append(out, map[bool]string{false: "released by ", true: "failed by "}[e.Fault]+e.Agent)
		case instance.Reported:
			out = append(out, "reported by "+e.Agent)
		case instance.Moved:
			out = append(out, "moved to "+e.To)
		case instance.Paused:
			out = append(out, "paused")
		case instance.Resumed:
			out = append(out, "resumed")
		}
	}
	return out
}

// settled waits until no message of the role is under way or waiting.
func (e *env) settled() {
	e.Helper()
	if err := natstest.Drained(e.ctx, e.js, "EVENTS", "pm"); err != nil {
		e.Fatal(err)
	}
}

var errBroken = errors.New("broken")
