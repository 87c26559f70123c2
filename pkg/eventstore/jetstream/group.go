package jetstream

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/nats-io/nats.go"
)

const (
	maxGroup      = 1000    // messages in a batch: the server takes no more
	maxGroupBytes = 4 << 20 // and bytes
	// leastGroup is how many make a batch: it costs a server six flushes, and the
	// work of as many again, however few are in it.
	leastGroup = 16
)

// Why a batch was not stored, as far as that is known.
var (
	errApart   = errors.New("the batch may not be stored")
	errRefused = errors.New("the batch was refused for one of its messages")
)

// group sends appends that come at the same time as one atomic batch. An append
// that finds nothing under way goes at once, alone; those that come until it is
// through wait and go together. It has no goroutine: one that waits sends for all.
type group struct {
	// batch stores all messages or none, and returns the first one's sequence.
	batch func(context.Context, []*nats.Msg) (uint64, error)

	mu      sync.Mutex
	busy    int // appends alone and batches under way
	waiting []*ticket
}

// entry is an append as a group sees it.
type entry struct {
	instance string
	msg      *nats.Msg
	alone    func(context.Context) (uint64, error) // appends it, whatever was tried before
	fits     func(context.Context) bool            // whether its expectation holds
}

// ticket is an entry that waits.
type ticket struct {
	entry
	turn chan turn
	gone bool // waits no more
}

// turn is what a ticket is told, once: whom to send for, or what became of it.
type turn struct {
	batch []*ticket // its own is the first
	seq   uint64
	err   error
}

// append stores an entry, with others or alone. If a batch was refused, those
// in it that are not to blame try once more together.
func (g *group) append(ctx context.Context, e entry) (uint64, error) {
	seq, err := g.once(ctx, e)
	if errors.Is(err, errRefused) && e.fits(ctx) {
		seq, err = g.once(ctx, e)
	}
	if errors.Is(err, errRefused) || errors.Is(err, errApart) {
		return e.alone(ctx)
	}
	return seq, err
}

func (g *group) once(ctx context.Context, e entry) (uint64, error) {
	t := g.enter(e)
	if t == nil {
		defer g.leave()
		return e.alone(ctx)
	}
	var told turn
	select {
	case told = <-t.turn:
	case <-ctx.Done():
		g.withdraw(t)
		return 0, ctx.Err()
	}
	switch len(told.batch) {
	case 0:
		return told.seq, told.err
	case 1:
		defer g.leave()
		return e.alone(ctx)
	default:
		return g.lead(ctx, told.batch)
	}
}

// lead sends a batch and tells the others what became of it. It leaves before
// that: those that wait go now, not with whoever of this batch is back by then.
func (g *group) lead(ctx context.Context, batch []*ticket) (uint64, error) {
	messages := make([]*nats.Msg, len(batch))
	for i, t := range batch {
		messages[i] = t.msg
	}
	first, err := g.batch(ctx, messages)
	g.leave()
	switch {
	case err == nil:
	case refused(err):
		err = errRefused
	default:
		err = errApart
	}
	for i, t := range batch[1:] {
		t.turn <- turn{seq: first + uint64(i) + 1, err: err}
	}
	return first, err
}

// enter returns nil if nothing is under way.
func (g *group) enter(e entry) *ticket {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.busy == 0 {
		g.busy = 1
		return nil
	}
	t := &ticket{entry: e, turn: make(chan turn, 1)}
	g.waiting = append(g.waiting, t)
	return t
}

// withdraw takes t back. If it was its turn, it is the next one's.
func (g *group) withdraw(t *ticket) {
	g.mu.Lock()
	defer g.mu.Unlock()
	t.gone = true
	if i := slices.Index(g.waiting, t); i >= 0 {
		g.waiting = slices.Delete(g.waiting, i, i+1)
		return
	}
	select {
	case told := <-t.turn:
		if len(told.batch) > 0 { // else others sent it
			g.pass(told.batch)
		}
	default:
	}
}

// pass gives a turn to the first of a batch that has not gone: nobody would take
// it from one that has, and all others wait for that. g.mu is held.
func (g *group) pass(batch []*ticket) {
	batch = slices.DeleteFunc(slices.Clone(batch), func(t *ticket) bool { return t.gone })
	if len(batch) == 0 {
		g.next()
		return
	}
	batch[0].turn <- turn{batch: batch}
}

// leave ends an append alone or a batch, and says whose turn it is.
func (g *group) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.next()
}

func (g *group) next() {
	if g.busy--; g.busy > 0 || len(g.waiting) == 0 {
		return
	}
	batch := g.take()
	if len(batch) >= leastGroup {
		g.busy = 1
		batch[0].turn <- turn{batch: batch}
		return
	}
	g.busy = len(batch)
	for i, t := range batch {
		t.turn <- turn{batch: batch[i : i+1]}
	}
}

// take removes from those that wait what may go together: at most one of an
// instance, for the second would have to follow the first.
func (g *group) take() []*ticket {
	var batch, rest []*ticket
	instances, bytes := make(map[string]bool, len(g.waiting)), 0
	for _, t := range g.waiting {
		size := t.msg.Size()
		if len(batch) == maxGroup || instances[t.instance] || len(batch) > 0 && bytes+size > maxGroupBytes {
			rest = append(rest, t)
			continue
		}
		instances[t.instance], bytes = true, bytes+size
		batch = append(batch, t)
	}
	g.waiting = rest
	return batch
}
