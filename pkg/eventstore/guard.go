package eventstore

import (
	"context"
	"errors"
	"sync"
)

// Guard is a Store that takes no commit any more once the log proved damaged:
// whoever finds that out, nothing is built on it. Make one with NewGuard.
type Guard struct {
	Store
	mu      sync.Mutex
	err     error
	damaged chan struct{}
}

// NewGuard guards a store.
func NewGuard(s Store) *Guard { return &Guard{Store: s, damaged: make(chan struct{})} }

// Damaged is closed when the log proved damaged; Err says how.
func (g *Guard) Damaged() <-chan struct{} { return g.damaged }

// Err is what proved the log damaged, ErrCorrupt, or nil.
func (g *Guard) Err() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.err
}

// note remembers the first proof, and passes the error on.
func (g *Guard) note(err error) error {
	if !errors.Is(err, ErrCorrupt) {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err == nil {
		g.err = err
		close(g.damaged)
	}
	return err
}

// Append implements Store. After the proof it is answered with it.
func (g *Guard) Append(ctx context.Context, c Commit) (uint64, error) {
	if err := g.Err(); err != nil {
		return 0, err
	}
	seq, err := g.Store.Append(ctx, c)
	return seq, g.note(err)
}

// Last implements Store.
func (g *Guard) Last(ctx context.Context, instance string) (Commit, error) {
	c, err := g.Store.Last(ctx, instance)
	return c, g.note(err)
}

// Load implements Store.
func (g *Guard) Load(ctx context.Context, instance string) ([]Commit, error) {
	all, err := g.Store.Load(ctx, instance)
	return all, g.note(err)
}

// Since implements Store. It may be asked about what never was in the log, so
// that its ErrCorrupt proves nothing by itself: the whole instance does.
func (g *Guard) Since(ctx context.Context, instance string, after uint64) ([]Commit, error) {
	all, err := g.Store.Since(ctx, instance, after)
	if errors.Is(err, ErrCorrupt) {
		if _, proof := g.Load(ctx, instance); errors.Is(proof, ErrCorrupt) {
			err = proof
		}
	}
	return all, err
}

// Read implements Store. What f finds is noted, too.
func (g *Guard) Read(ctx context.Context, from uint64, f func(Commit) error, caught func()) error {
	return g.note(g.Store.Read(ctx, from, f, caught))
}
