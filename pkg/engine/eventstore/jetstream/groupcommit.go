package jetstream

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/nats-io/nats.go"
)

const (
	maxBatch      = 1000    // messages in a batch: the server accepts no more
	maxBatchBytes = 4 << 20 // bytes in a batch
	// minBatch is the fewest messages that are sent as a batch. A batch costs a server six
	// flushes, and the work of as many again, however few are in it.
	minBatch = 16
)

// Why a batch was not stored, as far as that is known.
var (
	errBatchUnknown = errors.New("the batch may not be stored")
	errBatchRefused = errors.New("the batch was refused for one of its messages")
)

// groupCommit appends commits of the same moment as one atomic batch, which costs
// one flush to disk. While nothing is in flight an append is sent at once, alone.
// Appends that come meanwhile wait, and are flushed together. There is no
// goroutine for it: one of the appends that wait flushes for all of them.
type groupCommit struct {
	// batch stores all messages or none, and returns the first one's sequence.
	batch func(context.Context, []*nats.Msg) (uint64, error)

	mu    sync.Mutex
	queue groupQueue // guarded by mu
}

// pendingAppend is an append that has still to be sent.
type pendingAppend struct {
	instance string
	msg      *nats.Msg
	alone    func(context.Context) (uint64, error) // appends it by itself, whatever was tried before
	fits     func(context.Context) bool            // reports whether its expected sequence still holds
}

// append stores a message, with others or alone. If a batch is refused, those of
// its messages that still fit are tried once more together.
func (g *groupCommit) append(ctx context.Context, p pendingAppend) (uint64, error) {
	seq, err := g.attempt(ctx, p)
	if errors.Is(err, errBatchRefused) && p.fits(ctx) {
		seq, err = g.attempt(ctx, p)
	}
	if errors.Is(err, errBatchRefused) || errors.Is(err, errBatchUnknown) {
		return p.alone(ctx)
	}
	return seq, err
}

func (g *groupCommit) attempt(ctx context.Context, p pendingAppend) (uint64, error) {
	r := g.enter(p)
	if r == nil {
		defer g.leave()
		return p.alone(ctx)
	}
	var granted grant
	select {
	case granted = <-r.granted:
	case <-ctx.Done():
		g.cancel(r)
		return 0, ctx.Err()
	}
	switch len(granted.batch) {
	case 0:
		return granted.seq, granted.err
	case 1:
		defer g.leave()
		return p.alone(ctx)
	default:
		return g.flush(ctx, granted.batch)
	}
}

// flush sends a batch and reports the result to its other requests. It leaves
// before it reports: requests that wait are flushed now, not together with those
// of this batch that come again at once.
func (g *groupCommit) flush(ctx context.Context, batch []*request) (uint64, error) {
	messages := make([]*nats.Msg, len(batch))
	for i, r := range batch {
		messages[i] = r.msg
	}
	first, err := g.batch(ctx, messages)
	g.leave()
	switch {
	case err == nil:
	case refused(err):
		err = errBatchRefused
	default:
		err = errBatchUnknown
	}
	for i, r := range batch[1:] {
		r.granted <- grant{seq: first + uint64(i) + 1, err: err}
	}
	return first, err
}

// enter returns the request of an append that has to wait, and nil if nothing is in flight.
// Then the append is sent at once, and leave follows it.
func (g *groupCommit) enter(p pendingAppend) *request {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.queue.enter(p)
}

// leave ends an append that was sent alone, or a batch, and grants the next.
func (g *groupCommit) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.queue.leave()
}

// cancel removes a request. Its grant is handed over to another.
func (g *groupCommit) cancel(r *request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.queue.cancel(r)
}

// groupQueue is what a groupCommit has in flight and what waits. It is not safe
// for concurrent use, and never blocks.
type groupQueue struct {
	inFlight int // appends that were sent alone, and batches
	waiting  []*request
}

// request is an append that waits for its grant.
type request struct {
	pendingAppend
	granted   chan grant // gets one value, and has room for it
	cancelled bool
}

// grant is the batch that the request has to flush, its own append first; without a
// batch it is the result of the request's append.
type grant struct {
	batch []*request
	seq   uint64
	err   error
}

func (q *groupQueue) enter(p pendingAppend) *request {
	if q.inFlight == 0 {
		q.inFlight = 1
		return nil
	}
	r := &request{pendingAppend: p, granted: make(chan grant, 1)}
	q.waiting = append(q.waiting, r)
	return r
}

func (q *groupQueue) cancel(r *request) {
	r.cancelled = true
	if i := slices.Index(q.waiting, r); i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
		return
	}
	select {
	case granted := <-r.granted:
		if len(granted.batch) > 0 { // else another request has sent it
			q.handOver(granted.batch)
		}
	default:
	}
}

// handOver grants a batch to the first of its requests that is not cancelled. A cancelled
// one would never flush it, and all others wait for that.
func (q *groupQueue) handOver(batch []*request) {
	batch = slices.DeleteFunc(slices.Clone(batch), func(r *request) bool { return r.cancelled })
	if len(batch) == 0 {
		q.leave()
		return
	}
	batch[0].granted <- grant{batch: batch}
}

// leave grants what waits once nothing is in flight: as one batch or, if there are
// too few for one, each alone.
func (q *groupQueue) leave() {
	if q.inFlight--; q.inFlight > 0 || len(q.waiting) == 0 {
		return
	}
	batch := q.collect()
	if len(batch) >= minBatch {
		q.inFlight = 1
		batch[0].granted <- grant{batch: batch}
		return
	}
	q.inFlight = len(batch)
	for i, r := range batch {
		r.granted <- grant{batch: batch[i : i+1]}
	}
}

// collect removes the requests that may be sent together: at most one of each
// instance, for the second would have to follow the first.
func (q *groupQueue) collect() []*request {
	var batch, rest []*request
	instances, bytes := make(map[string]bool, len(q.waiting)), 0
	for _, r := range q.waiting {
		size := r.msg.Size()
		if len(batch) == maxBatch || instances[r.instance] || len(batch) > 0 && bytes+size > maxBatchBytes {
			rest = append(rest, r)
			continue
		}
		instances[r.instance], bytes = true, bytes+size
		batch = append(batch, r)
	}
	q.waiting = rest
	return batch
}
