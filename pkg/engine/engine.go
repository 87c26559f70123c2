// Package engine is the shell around the pure core: load, fold, decide, append,
// and once more when another writer was first. Correctness is the log's
// optimistic concurrency; nothing here locks or leads across processes.
package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/signalbox/signalbox/pkg/eventstore"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/wire"
)

// Config is what an Engine works with.
type Config struct {
	Store       eventstore.Store
	Definitions Definitions
	Now         func() time.Time
	// Committed, if set, is told of each commit this engine made.
	Committed func(before, after instance.Instance, c instance.Commit)
	// Conflicted, if set, is told of each append another writer forestalled.
	Conflicted func(instance string)
	// Snapshots, if set, is where Follow begins, and where Snapshot keeps.
	Snapshots *Snapshots
}

// Engine answers commands. It is safe for concurrent use; any number of
// engines may work on one log.
type Engine struct {
	Config
	turns   turns
	desks   desks
	orders  sync.Map // the order of each definition, by its hash
	view    *view
	changes []*Changes

	began, shunned atomic.Pointer[[]byte] // the snapshot that was looked at, and the one that was of no use
}

// New returns an engine that knows nothing yet; Follow teaches it the log.
func New(c Config) *Engine {
	e := &Engine{Config: c, view: newView()}
	if s := c.Snapshots; s != nil {
		e.view.fresh, e.view.every = map[string]bool{}, s.Every
	}
	return e
}

// Outcome is a command that was taken. Of one that was refused there is only
// the instance that it was refused for.
type Outcome struct {
	Seq       uint64
	Duplicate bool // it had been taken before; Events are those of that time
	Events    []instance.Event
	Instance  instance.Instance // as it is now
	Free      time.Time         // of a claim that was refused as held: when to ask again
}

// maxConflicts bounds the tries of one command. Each lost try is another
// writer's progress, so a caller that gets here shares the instance with a crowd.
const maxConflicts = 1000

// ErrContended says that a command lost every try to other writers.
var ErrContended = errors.New("too many writers on one instance")

// Handle answers one command. name is the workflow an Open asks for, or the name
// or hash of the definition a Migrate does; a Migrate that names none gets the
// newest of its workflow. The error is an *instance.Refusal, or says why there is
// no answer; then the command may be sent again under the same id.
//
// A claim of a lifecycle that has an order is given the most urgent work: see claim.
func (e *Engine) Handle(ctx context.Context, cmd instance.Command, name string) (Outcome, error) {
	if take, ok := cmd.Do.(instance.Claim); ok {
		if workflow, ok, err := e.ordered(ctx, cmd.Instance, take.Role); ok || err != nil {
			if err != nil {
				return Outcome{}, err
			}
			return e.claim(ctx, cmd, take, workflow)
		}
	}
	if err := e.turns.take(ctx, cmd.Instance); err != nil {
		return Outcome{}, err
	}
	defer e.turns.pass(cmd.Instance)
	now, known := e.view.get(cmd.Instance)
	if _, opens := cmd.Do.(instance.Open); !known && opens && !e.view.knows(cmd.Instance) {
		now, known = none(cmd.Instance), true // if it is there after all, the log refuses the commit
	}
	var err error
	if !known {
		if now, err = e.load(ctx, cmd.Instance); err != nil {
			return Outcome{}, err
		}
	}
	for range maxConflicts {
		out, err := e.try(ctx, now, cmd, name)
		switch {
		case errors.Is(err, eventstore.ErrDuplicate):
			out, ok, err := e.again(ctx, cmd)
			if !ok && err == nil {
				err = isSpent(cmd)
			}
			return out, err
		case errors.Is(err, eventstore.ErrInvalid), errors.Is(err, eventstore.ErrTooLarge):
			return Outcome{}, &instance.Refusal{Code: instance.CodeInvalid, Instance: cmd.Instance, What: err.Error()}
		case errors.Is(err, eventstore.ErrConflict):
			if e.Conflicted != nil {
				e.Conflicted(cmd.Instance)
			}
		case errors.As(err, new(*instance.Refusal)):
			// A refusal from memory might speak of a past that is over, and
			// without the log it is no answer.
			fresh, unsure := e.fresh(ctx, now)
			if unsure != nil {
				return Outcome{}, unsure
			}
			if fresh {
				return Outcome{Instance: now.in, Free: free(now.in)}, e.believed(ctx, now, cmd, err)
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

func (e *Engine) try(ctx context.Context, now *entry, cmd instance.Command, name string) (Outcome, error) {
	if now.took(cmd.ID) {
		if out, ok, err := e.again(ctx, cmd); ok || err != nil {
			return out, err
		}
	}
	def, err := e.definition(ctx, now.in, name, cmd)
	if err != nil {
		return Outcome{}, err
	}
	gate := &e.desks.of(def.Name).gate
	if err := gate.enter(ctx, false); err != nil {
		return Outcome{}, err
	}
	defer gate.leave(false)
	cmd.At = e.Now()
	return e.commit(ctx, def, now, cmd)
}

// free is when a claim ends.
func free(in instance.Instance) time.Time {
	if in.Claim == nil {
		return time.Time{}
	}
	return in.Claim.Lease
}

// again answers a command that this instance took before as it was answered
// then, however long ago that is; ok is false if it never did.
func (e *Engine) again(ctx context.Context, cmd instance.Command) (out Outcome, ok bool, err error) {
	now, commits, err := e.until(ctx, cmd)
	if err != nil {
		return Outcome{}, false, err
	}
	i := slices.IndexFunc(commits, func(c eventstore.Commit) bool { return c.ID == cmd.ID })
	if i < 0 {
		return Outcome{}, false, nil
	}
	first, err := wire.ToCommit(commits[i])
	return Outcome{Seq: first.Seq, Duplicate: true, Events: first.Events, Instance: now.in}, true, err
}

// until returns the instance as it is now and, if the command was ever taken, at
// least the commits since then.
func (e *Engine) until(ctx context.Context, cmd instance.Command) (*entry, []eventstore.Commit, error) {
	if _, ok := e.view.get(cmd.Instance); ok {
		now, err := e.load(ctx, cmd.Instance)
		if err != nil {
			return nil, nil, err
		}
		before, took := now.before(cmd.ID)
		if !took {
			return now, nil, nil
		}
		if commits, err := e.Store.Since(ctx, cmd.Instance, before); err == nil || !errors.Is(err, eventstore.ErrCorrupt) {
			return now, commits, err
		}
	}
	return e.reload(ctx, cmd.Instance)
}

// fresh reports whether the entry is the instance's newest moment in the log.
func (e *Engine) fresh(ctx context.Context, now *entry) (bool, error) {
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
	if err != nil {
		return instance.Instance{}, err
	}
	if !now.in.Exists() {
		return now.in, &instance.Refusal{Code: instance.CodeUnknownInstance, Instance: id, What: "no such instance"}
	}
	return now.in, nil
}

// load brings the instance up to date from the log: of one that can be decided
// on it reads what is new. One that was never opened is empty.
func (e *Engine) load(ctx context.Context, id string) (*entry, error) {
	now, known := e.view.get(id)
	if !known {
		now, _, err := e.reload(ctx, id)
		return now, err
	}
	commits, err := e.Store.Since(ctx, id, now.in.Seq)
	if err != nil {
		return nil, err
	}
	return e.append(ctx, now, commits)
}

// reload reads all commits of the instance.
func (e *Engine) reload(ctx context.Context, id string) (*entry, []eventstore.Commit, error) {
	commits, err := e.Store.Load(ctx, id)
	if err != nil && !errors.Is(err, eventstore.ErrUnknown) {
		return nil, nil, err
	}
	now, err := e.append(ctx, none(id), commits)
	return now, commits, err
}

func (e *Engine) append(ctx context.Context, now *entry, commits []eventstore.Commit) (*entry, error) {
	now, err := now.follow(commits...)
	if err == nil && len(commits) > 0 {
		e.put(ctx, now)
	}
	return now, err
}
