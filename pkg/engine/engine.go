// Package engine is the shell around the pure core: load, fold, decide, append,
// and once more when another writer was first. Correctness is the log's
// optimistic concurrency; nothing here locks or leads across processes.
package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/pkg/eventstore"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/wire"
	"github.com/signalbox/signalbox/pkg/workflow"
)

// Definitions finds lifecycles.
type Definitions interface {
	// Named returns the definition new instances of the name open with; the
	// error says which names there are.
	Named(name string) (*workflow.Definition, error)
	// Hashed returns the definition of that content hash.
	Hashed(ctx context.Context, hash string) (*workflow.Definition, error)
}

// Config is what an Engine works with.
type Config struct {
	Store       eventstore.Store
	Definitions Definitions
	Now         func() time.Time
	// Committed, if set, is told of each commit this engine made.
	Committed func(before, after instance.Instance, c instance.Commit)
	// Conflicted, if set, is told of each append another writer forestalled.
	Conflicted func(instance string)
}

// Engine answers commands. It is safe for concurrent use; any number of
// engines may work on one log.
type Engine struct {
	Config
	turns turns
	view  *view
}

// New returns an engine that knows nothing yet; Follow teaches it the log.
func New(c Config) *Engine { return &Engine{Config: c, view: newView()} }

// Outcome is a command that was taken.
type Outcome struct {
	Seq       uint64
	Duplicate bool // it had been taken before; Events are those of that time
	Events    []instance.Event
	Instance  instance.Instance // as it is now
}

// maxConflicts bounds the tries of one command. Each lost try is another
// writer's progress, so a caller that gets here shares the instance with a crowd.
const maxConflicts = 1000

// ErrContended says that a command lost every try to other writers.
var ErrContended = errors.New("too many writers on one instance")

// Handle answers one command. name is the workflow an Open asks for. The error
// is an *instance.Refusal, or says why there is no answer; then the command may
// be sent again under the same id.
func (e *Engine) Handle(ctx context.Context, cmd instance.Command, name string) (Outcome, error) {
	done, err := e.turns.take(ctx, cmd.Instance)
	if err != nil {
		return Outcome{}, err
	}
	defer done()
	now, known := e.view.get(cmd.Instance)
	if !known {
		if now, err = e.load(ctx, cmd.Instance); err != nil {
			return Outcome{}, err
		}
	}
	spent := false
	for range maxConflicts {
		out, err := e.try(ctx, now, cmd, name)
		switch {
		case errors.Is(err, eventstore.ErrDuplicate) && spent:
			return Outcome{}, &instance.Refusal{Code: instance.Invalid, Instance: cmd.Instance, What: fmt.Sprintf("the command id %q is spent on another command", cmd.ID)}
		case errors.Is(err, eventstore.ErrInvalid), errors.Is(err, eventstore.ErrTooLarge):
			return Outcome{}, &instance.Refusal{Code: instance.Invalid, Instance: cmd.Instance, What: err.Error()}
		case errors.Is(err, eventstore.ErrConflict):
			// Spent may only mean that this very command was taken: look once more.
			spent = errors.Is(err, eventstore.ErrDuplicate)
			if e.Conflicted != nil {
				e.Conflicted(cmd.Instance)
			}
		case errors.As(err, new(*instance.Refusal)):
			// A refusal from memory might speak of a past that is over.
			if fresh, ferr := e.fresh(ctx, now); ferr != nil || fresh {
				return Outcome{}, errors.Join(ferr, err)
			}
		default:
			return out, err
		}
		if now, err = e.load(ctx, cmd.Instance); err != nil {
			return Outcome{}, err
		}
	}
	return Outcome{}, fmt.Errorf("%s: %w: %d tries", cmd.Instance, ErrContended, maxConflicts)
}

func (e *Engine) try(ctx context.Context, now entry, cmd instance.Command, name string) (Outcome, error) {
	if seq, ok := now.in.Done(cmd.ID); ok {
		return e.again(ctx, now, seq)
	}
	def, err := e.definition(ctx, now.in, name, cmd)
	if err != nil {
		return Outcome{}, err
	}
	cmd.At = e.Now().UTC()
	if cmd.At.Before(now.in.UpdatedAt) {
		cmd.At = now.in.UpdatedAt // two clocks: time within an instance never runs back
	}
	events, err := instance.Decide(def, now.in, cmd)
	if err != nil {
		return Outcome{}, err
	}
	data, err := wire.Events(cmd.Actor, events)
	if err != nil {
		return Outcome{}, err
	}
	after := instance.Evolve(now.in, instance.Commit{At: cmd.At, Events: events})
	stored := eventstore.Commit{
		ID: cmd.ID, Workflow: after.Workflow, State: after.State, Instance: cmd.Instance, Wakes: wakes(events),
		Time: cmd.At, Prev: now.in.Seq, Data: data,
	}
	stored.Chain = eventstore.NextChain(now.chain, stored)
	if stored.Seq, err = e.Store.Append(ctx, stored); err != nil {
		return Outcome{}, err
	}
	commit := instance.Commit{Seq: stored.Seq, ID: cmd.ID, At: cmd.At, Actor: cmd.Actor, Events: events}
	next := entry{instance.Evolve(now.in, commit), stored.Chain}
	e.view.put(next)
	if e.Committed != nil {
		e.Committed(now.in, next.in, commit)
	}
	return Outcome{Seq: stored.Seq, Events: events, Instance: next.in}, nil
}

func wakes(events []instance.Event) bool {
	for _, e := range events {
		if _, ok := e.(instance.Dispatched); ok {
			return true
		}
	}
	return false
}

// again answers a command that was taken before as it was answered then.
func (e *Engine) again(ctx context.Context, now entry, seq uint64) (Outcome, error) {
	commits, err := e.Store.Load(ctx, now.in.ID)
	if err != nil {
		return Outcome{}, err
	}
	for _, c := range commits {
		if c.Seq == seq {
			first, err := wire.ToCommit(c)
			return Outcome{seq, true, first.Events, now.in}, err
		}
	}
	return Outcome{}, fmt.Errorf("%w: %s has no commit %d", eventstore.ErrCorrupt, now.in.ID, seq)
}

func (e *Engine) definition(ctx context.Context, in instance.Instance, name string, cmd instance.Command) (*workflow.Definition, error) {
	if in.Exists() {
		return e.Definitions.Hashed(ctx, in.Definition)
	}
	if _, opens := cmd.Do.(instance.Open); !opens {
		return nil, &instance.Refusal{Code: instance.Unknown, Instance: cmd.Instance, What: "no such instance"}
	}
	def, err := e.Definitions.Named(name)
	if err != nil {
		return nil, &instance.Refusal{Code: instance.Invalid, Instance: cmd.Instance, What: err.Error()}
	}
	return def, nil
}

// fresh reports whether the entry is the instance's newest moment in the log.
func (e *Engine) fresh(ctx context.Context, now entry) (bool, error) {
	last, err := e.Store.Last(ctx, now.in.ID)
	if errors.Is(err, eventstore.ErrUnknown) {
		return now.in.Seq == 0, nil
	}
	return last.Seq == now.in.Seq, err
}

// Get returns the instance as it is now, or a refusal.
func (e *Engine) Get(ctx context.Context, id string) (instance.Instance, error) {
	now, known := e.view.get(id)
	if known {
		fresh, err := e.fresh(ctx, now)
		if fresh || err != nil {
			return now.in, err
		}
	}
	now, err := e.load(ctx, id)
	if err == nil && !now.in.Exists() {
		return now.in, &instance.Refusal{Code: instance.Unknown, Instance: id, What: "no such instance"}
	}
	return now.in, err
}

// load folds the instance from the log; one that was never opened is empty.
func (e *Engine) load(ctx context.Context, id string) (entry, error) {
	commits, err := e.Store.Load(ctx, id)
	if errors.Is(err, eventstore.ErrUnknown) {
		return entry{in: instance.Instance{ID: id}}, nil
	}
	if err != nil {
		return entry{}, err
	}
	now := entry{in: instance.Instance{ID: id}}
	for _, c := range commits {
		if now, err = now.evolve(c); err != nil {
			return entry{}, err
		}
	}
	e.view.put(now)
	return now, nil
}
