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
	return e.Store.Read(ctx, 1, func(c eventstore.Commit) error {
		now := e.view.at(c.Instance)
		next := now
		if c.Seq > now.in.Seq { // else it is a commit of our own, or one that was loaded
			if c.Prev != now.in.Seq || c.Chain != eventstore.NextChain(now.chain, c) {
				return fmt.Errorf("%w: commit %d of %q does not follow %d", eventstore.ErrCorrupt, c.Seq, c.Instance, now.in.Seq)
			}
			var err error
			if next, err = now.evolve(c); err != nil {
				return err
			}
			e.view.put(next)
		}
		if err := e.remember(ctx, next.in, c); err != nil {
			return err
		}
		e.view.reached(c.Seq)
		for _, changes := range e.changes {
			changes.Note(c.Instance)
		}
		return nil
	}, caught)
}

// List returns the instances that keep holds for, in order of id, as of now or
// later. Of closed ones it has the outline: no texts but the title, no evidence,
// no past. keep must be quick.
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
