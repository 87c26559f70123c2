package engine

import (
	"context"
	"slices"
	"sync"
)

// gate is entered by many together or by one alone, in the order they came.
type gate struct {
	mu     sync.Mutex
	inside int // how many; -1: one, alone
	queue  []*caller
}

type caller struct {
	alone bool
	in    chan struct{}
}

// enter waits to be let in; who was let in leaves again, in the same way.
func (g *gate) enter(ctx context.Context, alone bool) error {
	g.mu.Lock()
	if !alone && len(g.queue) == 0 && g.inside >= 0 {
		g.inside++
		g.mu.Unlock()
		return nil
	}
	c := &caller{alone, make(chan struct{})}
	g.queue = append(g.queue, c)
	g.admit()
	g.mu.Unlock()
	select {
	case <-c.in:
		return nil
	case <-ctx.Done():
	}
	g.mu.Lock()
	if i := slices.Index(g.queue, c); i >= 0 {
		g.queue = slices.Delete(g.queue, i, i+1)
		g.admit() // who stood behind may fit
		g.mu.Unlock()
		return ctx.Err()
	}
	g.mu.Unlock()
	return nil // it was let in just now
}

func (g *gate) leave(alone bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if alone {
		g.inside = 0
	} else {
		g.inside--
	}
	g.admit()
}

// admit lets in who fits, first come, first served: who wants to be alone is not
// kept waiting by those who come later.
func (g *gate) admit() {
	for len(g.queue) > 0 {
		first := g.queue[0]
		switch {
		case first.alone && g.inside == 0:
			g.inside = -1
		case !first.alone && g.inside >= 0:
			g.inside++
		default:
			return
		}
		g.queue = g.queue[1:]
		close(first.in)
	}
}
