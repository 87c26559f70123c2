package engine

import (
	"context"

	"github.com/signalbox/signalbox/pkg/eventstore"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/wire"
)

// remember notes a claim of a lifecycle with an order. Should the same command
// come again, what it names does not tell what it was given.
func (e *Engine) remember(ctx context.Context, in instance.Instance, c eventstore.Commit) error {
	if !e.hasOrder(ctx, in.Definition) {
		return nil
	}
	commit, err := wire.ToCommit(c)
	if err != nil {
		return err
	}
	for _, event := range commit.Events {
		if _, ok := event.(instance.Claimed); ok {
			e.view.give(c.ID, c.Instance)
		}
	}
	return nil
}

// hasOrder says of each definition only once whether it has an order; one that
// cannot be read has none.
func (e *Engine) hasOrder(ctx context.Context, hash string) bool {
	if ordered, known := e.orders.Load(hash); known {
		return ordered.(bool)
	}
	def, err := e.Definitions.Hashed(ctx, hash)
	ordered := err == nil && len(def.Order) > 0
	if ctx.Err() == nil {
		e.orders.Store(hash, ordered)
	}
	return ordered
}
