package eventstore

import (
	"context"
	"errors"
	"sync"
)

// Guard is a Store that refuses all appends once a method has found the log
// damaged. It is safe for concurrent use. Make one with NewGuard.
type Guard struct {
	Store
	mu      sync.Mutex
	err     error
	damaged chan struct{}
}

// NewGuard guards a store.
func NewGuard(s Store) *Guard { return &Guard{Store: s, damaged: make(chan struct{})} }

// Damaged returns a channel that is closed when the log proves damaged; Err says how.
func (g *Guard) Damaged() <-chan struct{} { return g.damaged }

// Err returns the error that proved the log damaged, an ErrCorrupt, or nil.
func (g *Guard) Err() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.err
}

// note keeps the first proof, and returns the error.
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

// Append implements Store. Once the log proved damaged it returns Err.
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

// Since implements Store. Its sequence may be one that was never in the log, so
// its ErrCorrupt alone proves nothing. Guard then loads the whole instance.
func (g *Guard) Since(ctx context.Context, instance string, after uint64) ([]Commit, error) {
	all, err := g.Store.Since(ctx, instance, after)
	if errors.Is(err, ErrCorrupt) {
		if _, proof := g.Load(ctx, instance); errors.Is(proof, ErrCorrupt) {
			err = proof
		}
	}
	return all, err
}

// Page implements Store.
func (g *Guard) Page(ctx context.Context, instance string, p Part) (commits []Commit, more bool, err error) {
	commits, more, err = g.Store.Page(ctx, instance, p)
	return commits, more, g.note(err)
}

// Read implements Store. An ErrCorrupt of f is a proof, too.
func (g *Guard) Read(ctx context.Context, from uint64, f func(Commit) error, caught func()) error {
	return g.note(g.Store.Read(ctx, from, f, caught))
}
