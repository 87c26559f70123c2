package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/signalbox/signalbox/pkg/eventstore"
	"github.com/signalbox/signalbox/pkg/instance"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Follow reads the log and keeps the view up to date until ctx ends or the log
// proves damaged. It begins with the newest snapshot, if there is one that the
// log goes on from, else with the first commit. caught is called once, when all
// that was there has been read.
func (e *Engine) Follow(ctx context.Context, caught func()) error {
	p, err := e.restore(ctx)
	if err != nil {
		return err
	}
	if p != nil {
		e.view.begun(p.Seq)
		err := e.Store.Read(ctx, p.Seq, func(c eventstore.Commit) error { return e.goOn(ctx, p, c) }, caught)
		if !errors.Is(err, errUnfit) {
			return err
		}
		e.ignore(err)
		e.view.clear()
	}
	return e.replay(ctx, caught)
}

// replay reads the whole log. Who wants to know of changes is told of each instance
// once, when all that was there is read.
func (e *Engine) replay(ctx context.Context, caught func()) error {
	behind := true
	return e.Store.Read(ctx, 1, func(c eventstore.Commit) error {
		if behind {
			return e.learn(ctx, c)
		}
		return e.hear(ctx, c)
	}, func() {
		behind = false
		e.note(e.view.ids()...)
		caught()
	})
}

// goOn takes in the next commit after a snapshot. What the snapshot has to fit is
// the log up to its newest commit; after that, what does not fit is the log's fault.
func (e *Engine) goOn(ctx context.Context, p *pb.Snapshot, c eventstore.Commit) error {
	if c.Seq == p.Seq && c.Chain != p.Chain {
		return fmt.Errorf("%w: commit %d is another", errUnfit, c.Seq)
	}
	err := e.hear(ctx, c)
	if errors.Is(err, eventstore.ErrCorrupt) && c.Seq <= p.Through {
		return fmt.Errorf("%w: %v", errUnfit, err) // nor is it the log that is damaged
	}
	return err
}

// hear takes in the next commit of the log, and notes that there was one.
func (e *Engine) hear(ctx context.Context, c eventstore.Commit) error {
	if err := e.learn(ctx, c); err != nil {
		return err
	}
	e.note(c.Instance)
	return nil
}

// learn takes in the next commit of the log.
func (e *Engine) learn(ctx context.Context, c eventstore.Commit) error {
	now := e.view.stand(c.Instance)
	if now.seq == 0 && c.Prev > 0 && now.missing { // it ended before the snapshot, and is not in yet
		if _, _, err := e.reload(ctx, c.Instance); err != nil {
			return err
		}
		now = e.view.stand(c.Instance)
	}
	var events []instance.Event // nil: nobody looked at them yet
	switch {
	case c.Seq > now.seq && now.making.is(c, now):
		n := now.making.at(c.Seq)
		now.definition, events = n.in.Definition, now.making.events
		if e.put(ctx, n); ctx.Err() != nil {
			return ctx.Err()
		}
		e.view.hears(now.making, n)
	case c.Seq > now.seq:
		commit, err := next(c, now.seq, now.head)
		if err != nil {
			return err
		}
		if now.definition = e.grow(ctx, c.Instance, now, commit, c.Chain); ctx.Err() != nil {
			return ctx.Err()
		}
		events = commit.Events
	case c.Seq == now.seq && c.Chain != now.head.chain(): // else it is a commit of our own, or one that was loaded
		return fmt.Errorf("%w: commit %d of %q is not the one that was made", eventstore.ErrCorrupt, c.Seq, c.Instance)
	}
	if err := e.remember(ctx, now.definition, c, events); err != nil {
		return err
	}
	e.view.reached(c.Seq, c.Chain)
	return nil
}

// grow has the view know what came next, and returns the definition that the
// instance is under then.
func (e *Engine) grow(ctx context.Context, id string, now stand, c instance.Commit, chain string) (definition string) {
	if now.own && e.orderOf(ctx, now.definition) == orderless && e.view.grow(id, now.seq, c, chain) {
		return now.definition
	}
	n := e.view.at(id).with(c, chain)
	definition, n.own = n.in.Definition, true
	e.put(ctx, n)
	return definition
}

func (e *Engine) note(ids ...string) {
	for _, changes := range e.changes {
		changes.Note(ids...)
	}
}

// List returns the instances that keep holds for, in order of id, as of now or
// later. Of ended ones it has the outline: no texts but the title, no evidence,
// no past. keep must be quick, and keep nothing of what it is shown.
func (e *Engine) List(ctx context.Context, keep func(instance.Instance) bool) ([]instance.Instance, error) {
	head, err := e.Store.Head(ctx)
	if err != nil {
		return nil, err
	}
	if err := e.view.wait(ctx, head); err != nil {
		return nil, err
	}
	if err := e.view.complete(ctx); err != nil {
		return nil, err
	}
	return e.view.list(keep), nil
}
