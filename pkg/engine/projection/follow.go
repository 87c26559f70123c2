package projection

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/projection/snapshot"
)

// Follow reads the log and applies its commits until ctx ends or the log proves
// damaged. It begins with the newest snapshot, if there is one that the log goes on
// from, else with the first commit. caught is called once, when all that was in the
// log at first was read. Call it once.
func (p *Projection) Follow(ctx context.Context, caught func()) error {
	d, err := p.restore(ctx)
	if err != nil {
		return err
	}
	if d != nil {
		p.schedule.restart(d.Seq)
		err := p.store.Read(ctx, d.Seq, func(c eventstore.Commit) error { return p.applyAfterSnapshot(ctx, d, c) }, caught)
		if !errors.Is(err, errUnfit) {
			return err
		}
		p.snapshots.Reject(err)
		p.reset()
	}
	return p.replay(ctx, caught)
}

// replay reads the whole log. It notes each instance in Changes once, when all that was
// in the log at first was read.
func (p *Projection) replay(ctx context.Context, caught func()) error {
	replaying := true
	return p.store.Read(ctx, 1, func(c eventstore.Commit) error {
		if replaying {
			return p.apply(ctx, c)
		}
		return p.applyAndNotify(ctx, c)
	}, func() {
		replaying = false
		p.noteAll()
		caught()
	})
}

// applyAfterSnapshot applies the next commit after a snapshot. Up to the newest commit that
// is in the snapshot, a commit that does not follow is the snapshot's fault. After that it
// is the log's.
func (p *Projection) applyAfterSnapshot(ctx context.Context, d *snapshot.Description, c eventstore.Commit) error {
	if c.Seq == d.Seq && c.Chain != d.Chain {
		return fmt.Errorf("%w: commit %d is another", errUnfit, c.Seq)
	}
	err := p.applyAndNotify(ctx, c)
	if errors.Is(err, eventstore.ErrCorrupt) && c.Seq <= d.Through {
		return fmt.Errorf("%w: %v", errUnfit, err) // not ErrCorrupt: the log may be sound
	}
	return err
}

// applyAndNotify applies the next commit of the log, and notes its instance in Changes.
func (p *Projection) applyAndNotify(ctx context.Context, c eventstore.Commit) error {
	if err := p.apply(ctx, c); err != nil || c.Foreign != nil {
		return err
	}
	p.note(c.Instance)
	return nil
}

// apply applies the next commit of the log. A commit that the state has already, as one of
// this process or one that was loaded, is skipped. So is a message that is no commit.
func (p *Projection) apply(ctx context.Context, c eventstore.Commit) error {
	if c.Foreign != nil {
		p.foreign(c)
		p.recent.add(c)
		p.position.set(c.Seq, c.Chain)
		p.schedule.reached(c.Seq, p.states.count)
		return nil
	}
	at := p.states.at(c.Instance)
	if at.seq == 0 && c.Prev > 0 && p.missing.any() { // it closed before the snapshot
		if _, err := p.reload(ctx, c.Instance); err != nil {
			return err
		}
		at = p.states.at(c.Instance)
	}
	definition, events := at.definition, []instance.Event(nil)
	switch a := p.inFlight.find(c, at); {
	case c.Seq > at.seq && a != nil:
		next := a.state(c.Seq)
		definition, events = next.Instance.Definition, a.decided.Events
		if p.put(ctx, next); ctx.Err() != nil {
			return ctx.Err()
		}
		p.inFlight.apply(a, next)
	case c.Seq > at.seq:
		commit, err := decodeNext(c, at.seq, at.head)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(commit.Events, reopens) { // its summary has not what comes back
			if _, err := p.reload(ctx, c.Instance); err != nil {
				return err
			}
			definition, events = at.definition, commit.Events
			break
		}
		if definition = p.advance(ctx, c.Instance, at, commit, c.Chain); ctx.Err() != nil {
			return ctx.Err()
		}
		events = commit.Events
	case c.Seq == at.seq && c.Chain != at.head.chain():
		return fmt.Errorf("%w: commit %d of %q is not the one that was made", eventstore.ErrCorrupt, c.Seq, c.Instance)
	}
	if err := p.indexClaims(ctx, definition, c, events); err != nil {
		return err
	}
	p.recent.add(c)
	p.position.set(c.Seq, c.Chain)
	p.schedule.reached(c.Seq, p.states.count)
	return nil
}

func reopens(e instance.Event) bool {
	_, ok := e.(instance.Reopened)
	return ok
}

// advance keeps the state after a commit, and returns the definition that the instance
// has then.
func (p *Projection) advance(ctx context.Context, id string, at readPosition, c instance.Commit, chain string) (definition string) {
	if at.unshared && p.orderOf(ctx, at.definition) == orderless && p.states.advance(id, at.seq, c, chain) {
		return at.definition
	}
	next := p.states.stateOf(id).with(c, chain)
	definition, next.unshared = next.Instance.Definition, true
	p.put(ctx, next)
	return definition
}

// reset forgets all that was read.
func (p *Projection) reset() {
	p.states.reset()
	p.claims.reset()
	p.recent.reset()
	p.position.set(0, "")
	p.schedule.restart(0)
	p.missing.end()
}
