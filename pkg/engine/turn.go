package engine

import (
	"context"
	"sync"
)

// turns lets the commands of one instance in this process go one after the
// other: they would only conflict with each other in the log. It is a courtesy,
// not a guarantee.
type turns struct {
	mu    sync.Mutex
	queue map[string]*turn
}

type turn struct {
	slot  chan struct{}
	users int
}

// take waits for the instance's turn; the caller gives it back.
func (t *turns) take(ctx context.Context, id string) (func(), error) {
	t.mu.Lock()
	if t.queue == nil {
		t.queue = map[string]*turn{}
	}
	q := t.queue[id]
	if q == nil {
		q = &turn{slot: make(chan struct{}, 1)}
		t.queue[id] = q
	}
	q.users++
	t.mu.Unlock()
	leave := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if q.users--; q.users == 0 {
			delete(t.queue, id)
		}
	}
	select {
	case q.slot <- struct{}{}:
		return func() { <-q.slot; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}
