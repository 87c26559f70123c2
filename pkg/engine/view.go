package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/signalbox/signalbox/pkg/eventstore"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/wire"
)

// entry is one instance at one moment: a value, replaced and never written to.
type entry struct {
	in    instance.Instance
	chain string
}

func (n entry) evolve(c eventstore.Commit) (entry, error) {
	commit, err := wire.ToCommit(c)
	if err != nil {
		return entry{}, err
	}
	return entry{instance.Evolve(n.in, commit), c.Chain}, nil
}

// view holds every instance in memory, as far as the log was followed.
type view struct {
	mu     sync.Mutex
	all    map[string]entry
	seq    uint64 // everything up to here is in
	waiter chan struct{}
}

func newView() *view { return &view{all: map[string]entry{}, waiter: make(chan struct{})} }

func (v *view) get(id string) (entry, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	n, ok := v.all[id]
	return n, ok
}

// put keeps the newer of two moments.
func (v *view) put(n entry) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if n.in.Seq > v.all[n.in.ID].in.Seq {
		v.all[n.in.ID] = n
	}
}

// reached says that the log was followed up to seq.
func (v *view) reached(seq uint64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.seq = seq
	close(v.waiter)
	v.waiter = make(chan struct{})
}

// wait returns when the log was followed up to seq.
func (v *view) wait(ctx context.Context, seq uint64) error {
	for {
		v.mu.Lock()
		at, more := v.seq, v.waiter
		v.mu.Unlock()
		if at >= seq {
			return nil
		}
		select {
		case <-more:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Follow reads the log and keeps the view up to date until ctx ends or the log
// proves damaged. caught is called once, when all that was there has been read.
func (e *Engine) Follow(ctx context.Context, caught func()) error {
	return e.Store.Read(ctx, 1, func(c eventstore.Commit) error {
		defer e.view.reached(c.Seq)
		now, ok := e.view.get(c.Instance)
		if !ok {
			now = entry{in: instance.Instance{ID: c.Instance}}
		}
		if c.Seq <= now.in.Seq {
			return nil // own write, seen before
		}
		if c.Prev != now.in.Seq || c.Chain != eventstore.NextChain(now.chain, c) {
			return fmt.Errorf("%w: commit %d of %q does not follow %d", eventstore.ErrCorrupt, c.Seq, c.Instance, now.in.Seq)
		}
		next, err := now.evolve(c)
		if err == nil {
			e.view.put(next)
		}
		return err
	}, caught)
}

// List returns the instances that keep holds for, in order of id, as of now or later.
func (e *Engine) List(ctx context.Context, keep func(instance.Instance) bool) ([]instance.Instance, error) {
	head, err := e.Store.Head(ctx)
	if err != nil {
		return nil, err
	}
	if err := e.view.wait(ctx, head); err != nil {
		return nil, err
	}
	e.view.mu.Lock()
	defer e.view.mu.Unlock()
	var out []instance.Instance
	for _, n := range e.view.all {
		if keep(n.in) {
			out = append(out, n.in)
		}
	}
	slices.SortFunc(out, func(a, b instance.Instance) int { return cmp.Compare(a.ID, b.ID) })
	return out, nil
}
