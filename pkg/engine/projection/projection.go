// Package projection keeps the state of every instance in memory, as far as the log
// was followed: live ones whole, closed ones in summary. Its start is a snapshot, if
// there is one that can be used, or the first commit of the log.
//
// A Projection may be behind the log. Decisions on its states are safe all the same: the log refuses a commit whose instance has newer ones.
//
// Locks: states holds its lock while it calls Config.Changed, which may take one. No other
// two locks are held together, and none while the log, a snapshot or a definition is read.
package projection

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/projection/snapshot"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// Definitions finds lifecycles by their content hash. An unknown one is a
// workflow.ErrUnknown.
type Definitions interface {
	Hashed(ctx context.Context, hash string) (*workflow.Definition, error)
}

// Config has the sources of a Projection.
type Config struct {
	Store       eventstore.Store
	Definitions Definitions
	// Changed, if set, is called with each new state of an instance, in order. ordered
	// says that the instance's definition may have an order of claims. An instance that
	// is forgotten, because a snapshot is rejected, changes to a state without commits.
	// Changed must be quick, and may not call the Projection.
	Changed func(s *State, ordered bool)
	// Foreign, if set, is called for each message of the log that is no commit, when it is
	// read. It must be quick.
	Foreign func(c eventstore.Commit)
	// Snapshots, if set, is where Follow begins, and where Snapshot saves.
	Snapshots *snapshot.Config
}

// Projection is the state of every instance. It is safe for concurrent use.
type Projection struct {
	store       eventstore.Store
	definitions Definitions
	foreign     func(eventstore.Commit)
	orders      sync.Map // order of each definition, by its hash

	states    states
	claims    claims
	inFlight  inFlight
	position  position
	recent    recent
	snapshots *snapshot.Store // nil: none are kept
	missing   missing
	schedule  schedule
	changes   []*Changes // appended to before Follow is called, only read after
}

// New returns a Projection without any state. Follow fills it from the log.
func New(c Config) *Projection {
	p := &Projection{store: c.Store, definitions: c.Definitions, foreign: c.Foreign, schedule: newSchedule()}
	if p.foreign == nil {
		p.foreign = func(eventstore.Commit) {}
	}
	p.states.reset()
	p.states.changed = func(s *State, ordered bool) {
		if c.Changed != nil {
			c.Changed(s, ordered)
		}
	}
	if c.Snapshots != nil {
		p.snapshots = snapshot.New(*c.Snapshots)
		p.states.tracksUnsaved = true
		p.schedule.every = c.Snapshots.Every
	}
	return p
}

// Live returns the state of a live instance; ok is false if the instance is closed or
// not known. A command can be decided on it.
func (p *Projection) Live(id string) (s *State, ok bool) { return p.states.share(id) }

// Get returns the newest state of an instance in the log, whole, or an
// *instance.Refusal if there is none.
func (p *Projection) Get(ctx context.Context, id string) (instance.Instance, error) {
	if s, ok := p.states.share(id); ok {
		fresh, err := p.Fresh(ctx, s)
		if fresh || err != nil {
			return s.Instance, err
		}
	}
	s, err := p.Load(ctx, id)
	if err != nil {
		return instance.Instance{}, err
	}
	if !s.Instance.Exists() {
		return s.Instance, &instance.Refusal{Code: instance.CodeUnknownInstance, Instance: id, What: "no such instance"}
	}
	return s.Instance, nil
}

// Fresh reports whether a state is the newest of its instance in the log.
func (p *Projection) Fresh(ctx context.Context, s *State) (bool, error) {
	last, err := p.store.Last(ctx, s.Instance.ID)
	if errors.Is(err, eventstore.ErrUnknown) {
		return s.Instance.Seq == 0, nil
	}
	return last.Seq == s.Instance.Seq, err
}

// Load brings an instance up to date with the log and returns its state. Of a live
// instance it reads the new commits only. The state of one that was never opened has
// no commits.
func (p *Projection) Load(ctx context.Context, id string) (*State, error) {
	s, ok := p.states.share(id)
	if !ok {
		return p.reload(ctx, id)
	}
	commits, err := p.store.Since(ctx, id, s.Instance.Seq)
	if err != nil {
		return nil, err
	}
	return p.fold(ctx, s, commits)
}

// reload reads all commits of an instance and returns its state.
func (p *Projection) reload(ctx context.Context, id string) (*State, error) {
	commits, err := p.store.Load(ctx, id)
	if err != nil && !errors.Is(err, eventstore.ErrUnknown) {
		return nil, err
	}
	return p.fold(ctx, Empty(id), commits)
}

// fold returns the state after the commits that follow s, and puts it.
func (p *Projection) fold(ctx context.Context, s *State, commits []eventstore.Commit) (*State, error) {
	for _, c := range commits {
		commit, err := decodeNext(c, s.Instance.Seq, s.head)
		if err != nil {
			return nil, err
		}
		s = s.with(commit, c.Chain)
	}
	if len(commits) > 0 {
		p.put(ctx, s)
	}
	return s, nil
}

// decodeNext decodes the commit that follows the one at seq, whose chain is head.
func decodeNext(c eventstore.Commit, seq uint64, head digest) (instance.Commit, error) {
	if c.Prev != seq || !eventstore.Follows(head.chain(), c) {
		return instance.Commit{}, fmt.Errorf("%w: commit %d of %q does not follow %d", eventstore.ErrCorrupt, c.Seq, c.Instance, seq)
	}
	return wire.ToCommit(c)
}

// put keeps a state, unless there is a newer one.
func (p *Projection) put(ctx context.Context, s *State) {
	p.states.put(s, p.orderOf(ctx, s.Instance.Definition) != orderless)
}

// CatchUp returns when all that is in the log now was followed.
func (p *Projection) CatchUp(ctx context.Context) error {
	head, err := p.store.Head(ctx)
	if err != nil {
		return err
	}
	return p.position.wait(ctx, head)
}

// Position returns how far the log was followed.
func (p *Projection) Position() uint64 {
	seq, _ := p.position.read()
	return seq
}

// Reach returns when the log was followed up to seq, or with ctx's error.
func (p *Projection) Reach(ctx context.Context, seq uint64) error { return p.position.wait(ctx, seq) }

// order is whether a definition has an order of claims.
type order int

const (
	unread order = iota // the definition cannot be read
	ordered
	orderless
)

// orderOf returns the order of a definition, by its hash. It reads each definition only
// once, even one that cannot be read.
func (p *Projection) orderOf(ctx context.Context, hash string) order {
	if known, ok := p.orders.Load(hash); ok {
		return known.(order)
	}
	o := unread
	switch def, err := p.definitions.Hashed(ctx, hash); {
	case ctx.Err() != nil:
		return unread
	case err == nil && len(def.Order) > 0:
		o = ordered
	case err == nil:
		o = orderless
	}
	p.orders.Store(hash, o)
	return o
}
