package engine

import (
	"context"
	"slices"
	"sync"
)

// turns lets the commands of one instance in this process go one after the
// other: they would only conflict with each other in the log. It is a courtesy,
// not a guarantee.
type turns struct {
	mu    sync.Mutex
	queue map[string][]chan struct{} // who waits for whoever has the turn; one that nobody has is not in it
}

// take waits for the instance's turn; who got it passes it on.
func (t *turns) take(ctx context.Context, id string) error {
	t.mu.Lock()
	waiting, taken := t.queue[id]
	if !taken {
		if t.queue == nil {
			t.queue = map[string][]chan struct{}{}
		}
		t.queue[id] = nil
		t.mu.Unlock()
		return nil
	}
	mine := make(chan struct{})
	t.queue[id] = append(waiting, mine)
	t.mu.Unlock()
	select {
	case <-mine:
		return nil
	case <-ctx.Done():
	}
	t.mu.Lock()
	if i := slices.Index(t.queue[id], mine); i >= 0 {
		t.queue[id] = slices.Delete(t.queue[id], i, i+1)
		t.mu.Unlock()
		return ctx.Err()
	}
	t.mu.Unlock()
	t.pass(id) // it came just now
	return ctx.Err()
}

// pass gives the turn to who waited longest.
func (t *turns) pass(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	waiting := t.queue[id]
	if len(waiting) == 0 {
		delete(t.queue, id)
		return
	}
	close(waiting[0])
	t.queue[id] = waiting[1:]
}
