// Package floor is raw JetStream with nothing but what a step needs: what an
// engine on top of it is measured against.
//
// A step is two appends, each under the expected sequence of its instance's
// wildcard filter and with a message id, two deliveries and two acknowledgements:
//
//	work ──▶ agent ── append note ──▶ decider ── append work ──▶ …
//
// An instance is one append to open it and eight such steps, the last of which
// wakes nobody: as many messages as the engine writes.
package baseline

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Order says what is to be done.
type Order struct {
	// Batch has what is ready while an append is under way go with the next, as
	// one atomic batch: the way for a server that flushes each append.
	Batch     bool
	Prefix    string // of the names of the instances, unique in a store
	Instances int
	Steps     int // of each
	InFlight  int // instances at a time
	Watch     bool
}

// Result is how it was done.
type Result struct {
	Took time.Duration
	Gaps []time.Duration // from the end of a step to the start of the next, if they were watched
	// Bytes and Messages that the stream has afterwards.
	Bytes, Messages uint64
}

// Stream is the name of the floor's log, events the subjects in it.
const (
	Stream = "FLOOR"
	events = "fl.evt."
)

// size is the bytes of an event, its headers included.
const size = 220

// Run takes instances through their steps. Work is appended over one connection
// and done over the other.
func Run(ctx context.Context, decider, agent *nats.Conn, o Order) (Result, error) {
	js, err := jetstream.New(decider)
	if err != nil {
		return Result{}, err
	}
	// As the log is kept.
	stream, err := js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: Stream, Subjects: []string{events + ">"}, Retention: jetstream.LimitsPolicy, Storage: jetstream.FileStorage,
		Compression: jetstream.S2Compression, Duplicates: 2 * time.Minute, DenyDelete: true, DenyPurge: true, AllowAtomicPublish: true,
	})
	if err != nil {
		return Result{}, fmt.Errorf("floor: make the stream: %w", err)
	}
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	r := &run{Order: o, fail: fail, ends: map[string]chan struct{}{}, last: map[string]time.Time{}}
	if o.Batch {
		b := newBatcher(decider)
		defer b.stop()
		r.decide, r.note = b.append, b.append
	} else {
		r.decide, r.note = newPublisher(decider).append, newPublisher(agent).append
	}
	stop, err := r.consume(ctx, decider, agent)
	if err != nil {
		return Result{}, err
	}
	start := time.Now()
	if err := r.all(ctx); err != nil {
		return Result{}, err
	}
	took := time.Since(start)
	stop()
	info, err := stream.Info(ctx)
	if err != nil {
		return Result{}, err
	}
	return Result{took, r.gaps, info.State.Bytes, info.State.Msgs}, nil
}

// run is one Run.
type run struct {
	Order
	decide, note func(ctx context.Context, m *nats.Msg) (uint64, error)
	fail         context.CancelCauseFunc

	mu   sync.Mutex
	ends map[string]chan struct{}
	last map[string]time.Time
	gaps []time.Duration
}

func (r *run) all(ctx context.Context) error {
	next := make(chan int)
	var working sync.WaitGroup
	for range r.InFlight {
		working.Go(func() {
			for i := range next {
				if err := r.one(ctx, r.Prefix+"-"+strconv.Itoa(i)); err != nil {
					r.fail(err)
				}
			}
		})
	}
	for i := range r.Instances {
		next <- i
	}
	close(next)
	working.Wait()
	return context.Cause(ctx)
}

// one opens an instance and waits for its end.
func (r *run) one(ctx context.Context, id string) error {
	end := make(chan struct{})
	r.mu.Lock()
	r.ends[id] = end
	r.mu.Unlock()
	if _, err := r.decide(ctx, event("work", id, 1, 0)); err != nil {
		return err
	}
	select {
	case <-end:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (r *run) ended(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.ends[id])
	delete(r.ends, id)
	delete(r.last, id)
}

// event is an append about a step of an instance whose newest event is at prev.
func event(kind, id string, step int, prev uint64) *nats.Msg {
	m := &nats.Msg{
		Subject: events + kind + ".bench.s" + strconv.Itoa(step) + "." + id,
		Header: nats.Header{
			jetstream.MsgIDHeader:                   {kind + strconv.Itoa(step) + "-" + id},
			jetstream.ExpectedLastSubjSeqHeader:     {strconv.FormatUint(prev, 10)},
			jetstream.ExpectedLastSubjSeqSubjHeader: {events + "*.*.*." + id},
		},
	}
	left := size - len("NATS/1.0\r\n\r\n")
	for key, values := range m.Header {
		left -= len(key) + len(": \r\n") + len(values[0])
	}
	m.Data = make([]byte, max(left, 1))
	return m
}
