package engine

import (
	"context"
	"fmt"

	"github.com/signalbox/signalbox/pkg/eventstore"
	"github.com/signalbox/signalbox/pkg/instance"
)

// Follow reads the log and keeps the view up to date until ctx ends or the log
// proves damaged. caught is called once, when all that was there has been read.
func (e *Engine) Follow(ctx context.Context, caught func()) error {
	return e.Store.Read(ctx, 1, func(c eventstore.Commit) error { return e.hear(ctx, c) }, caught)
}

// hear takes in the next commit of the log.
func (e *Engine) hear(ctx context.Context, c eventstore.Commit) error {
	now := e.view.at(c.Instance)
	switch {
	case c.Seq > now.in.Seq:
		next, err := now.follow(&e.names, c)
		if err != nil {
			return err
		}
		e.put(ctx, next)
		now = next
	case c.Seq == now.in.Seq && c.Chain != now.head.chain(): // else it is a commit of our own, or one that was loaded
		return fmt.Errorf("%w: commit %d of %q is not the one that was made", eventstore.ErrCorrupt, c.Seq, c.Instance)
	}
	if err := e.remember(ctx, now.in.Definition, c); err != nil {
		return err
	}
	e.view.reached(c.Seq)
	for _, changes := range e.changes {
		changes.Note(c.Instance)
	}
	return nil
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
	return e.view.list(keep), nil
}
