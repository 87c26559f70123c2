package api

import (
	"context"
	"sync"
	"time"
)

// deadlines gives requests contexts that end after patience. Requests that come
// at about the same time share one: a timer each would cost more than it is worth.
type deadlines struct {
	ctx context.Context // all end with it
	end context.CancelFunc

	mu      sync.Mutex
	current context.Context
	until   time.Time // it is given out
}

// together is how much longer than patience a request may look for an answer.
const together = patience / 16

func newDeadlines() deadlines {
	ctx, cancel := context.WithCancel(context.Background())
	return deadlines{ctx: ctx, end: cancel}
}

// after returns a context that ends patience after now, or a little later.
func (d *deadlines) after(now time.Time) context.Context {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !now.Before(d.until) {
		ctx, cancel := context.WithDeadline(d.ctx, now.Add(patience+together))
		context.AfterFunc(ctx, cancel)
		d.current, d.until = ctx, now.Add(together)
	}
	return d.current
}
