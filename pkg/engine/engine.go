// Package engine handles commands: it loads the instance, has the core decide, appends
// the commit, and does so again if another writer was first. The log's optimistic
// concurrency makes this correct: no lock is held across processes.
//
// pkg/engine/projection has the state of all instances, pkg/engine/dispatch the agents that wait for
// work. The interfaces states and dispatcher have all that command handling uses of them.
//
// Locks are taken in this order: the instance's (Engine.commands), its workflow's
// (Engine.workflows), then those of the projection and of the dispatcher. The engine never
// holds the last two: each call into them locks for itself.
package engine

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/engine/dispatch"
	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/projection"
	"github.com/signalbox/signalbox/pkg/engine/projection/snapshot"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// Definitions finds lifecycles. The error for a name without one is workflow.ErrUnknown.
type Definitions interface {
	// Named returns the definition new instances of the name open with; the
	// error lists the known names.
	Named(name string) (*workflow.Definition, error)
	// Hashed returns the definition of that content hash.
	Hashed(ctx context.Context, hash string) (*workflow.Definition, error)
}

// Config has the parts that an Engine works with.
type Config struct {
	Store       eventstore.Store
	Definitions Definitions
	Now         func() time.Time
	// Committed, if set, is called after each commit that this engine made.
	Committed func(before, after instance.Instance, c instance.Commit)
	// Budget, if set, is asked before a claim and while its work goes on.
	Budget Budget
	// Conflicted, if set, is called after each append that another writer forestalled.
	Conflicted func(instance string)
	// Foreign, if set, is called for each message of the log that is no commit, when it is
	// read. It must be quick.
	Foreign func(c eventstore.Commit)
	// Keep, if set, makes Definitions find a definition by its hash, for as long as the log
	// lasts: one that is narrowed for a repository. Without it no repository narrows any.
	Keep func(ctx context.Context, d *workflow.Definition) error
	// Limits are how much may be under way at a time, in addition to those of the repositories. They
	// are exact if one engine makes all commits.
	Limits []dispatch.Limit
	// Lease, if set, is that of claims: those that end while the engine is absent are prolonged. Reachable, if set, reports
	// whether agents reach it.
	Lease     time.Duration
	Reachable func() bool
	// Snapshots, if set, is where Follow begins, and where Snapshot saves.
	Snapshots *snapshot.Config
}

// Engine handles commands. It is safe for concurrent use; any number of engines may
// work on one log.
type Engine struct {
	Config
	*projection.Projection // for callers: Follow, Complete, Snapshot, Due, Get, List, Known, Changes, Position, Reach, Recent

	states     states
	dispatcher dispatcher
	commands   keyedMutex // commands of one instance go one after the other
	workflows  workflows
	presence   presence
}

// states is what command handling uses of the Projection.
type states interface {
	Start(ctx context.Context, id string, opens bool) (*projection.State, error)
	Known(id string) (instance.Instance, bool)
	Fresh(ctx context.Context, s *projection.State) (bool, error)
	Load(ctx context.Context, id string) (*projection.State, error)
	Append(ctx context.Context, s *projection.State, stored eventstore.Commit, decided instance.Commit) (*projection.State, error)
	CatchUp(ctx context.Context) error
	Given(ctx context.Context, command string) (id string, ok bool, err error)
}

// dispatcher is what command handling uses of pkg/engine/dispatch.
type dispatcher interface {
	Next(role string) *dispatch.Waiter
	Reserve(in instance.Instance, c instance.Commit) (release func(), full dispatch.Limit, ok bool)
	Admit(at time.Time) []instance.Command
	Fund(permitted func(in instance.Instance) bool) []instance.Command
	MostUrgent(ctx context.Context, key dispatch.QueueKey, at time.Time, skip map[string]bool) (dispatch.Choice, error)
	Lapsed(at time.Time) []dispatch.Lapse
	ResetRedirects()
	Wait(claim instance.Claim, atMost time.Duration, reply dispatch.Reply)
	Dismiss()
	Idle() map[string]int
}

// New returns an engine whose projection is empty. Follow fills it from the log.
func New(c Config) *Engine {
	d := dispatch.New(c.Definitions, c.Limits)
	if c.Budget == nil {
		c.Budget = noBudget{}
	}
	p := projection.New(projection.Config{
		Store: c.Store, Definitions: c.Definitions, Changed: d.Update, Foreign: c.Foreign, Snapshots: c.Snapshots,
	})
	return &Engine{Config: c, Projection: p, states: p, dispatcher: d}
}

// Outcome is the result of a command that was carried out. Of a command that was refused
// it has only the instance that it was refused for, and Free.
type Outcome struct {
	Seq       uint64
	Duplicate bool // it had been carried out before; Events are those of that time
	Events    []instance.Event
	Instance  instance.Instance // as it is now
	Free      time.Time         // of a claim that was refused as held: when to ask again
}

// ErrNoWork means that an agent that waited for work gets none: its time is over, or
// there is work in the queue of its role.
var ErrNoWork = dispatch.ErrNoWork

// Wait waits for work of the claim's role that is made within the given time, and claims
// it with the commit that makes it. It returns at once; reply is called once, from
// another goroutine, with the outcome or ErrNoWork. Work of lifecycles with an order goes
// to claims that may choose, never to an agent that waits.
func (e *Engine) Wait(claim instance.Claim, atMost time.Duration, reply func(Outcome, error)) {
	e.dispatcher.Wait(claim, atMost, func(in instance.Instance, events []instance.Event, err error) {
		reply(Outcome{Seq: in.Seq, Events: events, Instance: in}, err)
	})
}

// Dismiss replies ErrNoWork to all agents that wait, and to those that come.
func (e *Engine) Dismiss() { e.dispatcher.Dismiss() }

// Idle returns how many agents of each role wait for work.
func (e *Engine) Idle() map[string]int { return e.dispatcher.Idle() }

// Over returns why a role that works on an instance may spend nothing more on it now, or
// "". A question to another role is answered all the same.
func (e *Engine) Over(in instance.Instance, role string) (why string) {
	if _, inquired := in.Inquiry(); inquired {
		return ""
	}
	return e.Budget.Over(e.Now(), in, role)
}

type traceKey struct{}

// traceparent is the header of W3C Trace Context, level 1, version 00.
var traceparent = lazyregexp.New(`^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$`)

// WithTrace has the commits made under ctx carry the W3C traceparent. An invalid
// one is dropped: a sender's tracing is no reason to refuse its command.
func WithTrace(ctx context.Context, parent string) context.Context {
	if !traceparent.MatchString(parent) {
		return ctx
	}
	return context.WithValue(ctx, traceKey{}, parent)
}

func trace(ctx context.Context) string {
	parent, _ := ctx.Value(traceKey{}).(string)
	return parent
}
