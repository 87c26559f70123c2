package engine

import (
	"context"

	"github.com/signalbox/signalbox/pkg/eventstore"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/wire"
)

// remember notes a claim of a lifecycle with an order. Should the same command
// come again, what it names does not tell what it was given. Of a commit that the
// view had before the tail brought it, the events are not at hand.
func (e *Engine) remember(ctx context.Context, definition string, c eventstore.Commit, events []instance.Event) error {
	if e.orderOf(ctx, definition) != ordered {
		return nil
	}
	if events == nil {
		commit, err := wire.ToCommit(c)
		if err != nil {
			return err
		}
		events = commit.Events
	}
	for _, event := range events {
		if _, ok := event.(instance.Claimed); ok {
			e.view.give(c.ID, c.Instance)
		}
	}
	return nil
}

// order says whether a definition has one.
type order int

const (
	unread order = iota // nobody can read the definition
	ordered
	orderless
)

// orderOf asks of each definition only once; what cannot be read now has none.
func (e *Engine) orderOf(ctx context.Context, hash string) order {
	if known, ok := e.orders.Load(hash); ok {
		return known.(order)
	}
	o := unread
	switch def, err := e.Definitions.Hashed(ctx, hash); {
	case ctx.Err() != nil:
		return unread
	case err == nil && len(def.Order) > 0:
		o = ordered
	case err == nil:
		o = orderless
	}
	e.orders.Store(hash, o)
	return o
}

// put has the view know what an instance is now.
func (e *Engine) put(ctx context.Context, n *entry) {
	e.view.put(n, e.orderOf(ctx, n.in.Definition) != orderless)
}
