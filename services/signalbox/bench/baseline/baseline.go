// Package baseline is raw JetStream with nothing but what a step needs. The engine is
// measured against it.
//
// A step is two appends, two deliveries and two acknowledgements. An append has a message
// id and the expected sequence of its instance's wildcard filter:
//
//	work ──▶ agent ── append note ──▶ decider ── append work ──▶ …
//
// An instance is one append to open it and a number of steps. The last step makes no
// work.
package baseline

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/services/signalbox/bench/parallel"
)

// Order selects the instances to run.
type Order struct {
	// Batch groups appends in atomic batches, for a server that flushes each append.
	Batch     bool
	Prefix    string // of the names of the instances, unique in a store
	Instances int
	Steps     int  // of each
	InFlight  int  // instances at a time
	Watch     bool // record hand-offs
}

// Result is the result of an order.
type Result struct {
	Took            time.Duration
	Gaps            []time.Duration // hand-offs: from the end of a step to the start of the next, if watched
	Bytes, Messages uint64          // of the stream afterwards
}

// The stream of the baseline and the prefix of its subjects.
const (
	stream = "BASELINE"
	events = "bl.evt."
)

// size is the bytes of an event with its headers.
const size = 220

// Run runs instances to their ends. The decider and the agent have a connection each.
func Run(ctx context.Context, decider, agent *nats.Conn, o Order) (Result, error) {
	js, err := jetstream.New(decider)
	if err != nil {
		return Result{}, err
	}
	// The configuration is that of the log.
	log, err := js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: stream, Subjects: []string{events + ">"}, Retention: jetstream.LimitsPolicy, Storage: jetstream.FileStorage,
		Compression: jetstream.S2Compression, Duplicates: 2 * time.Minute, DenyDelete: true, DenyPurge: true, AllowAtomicPublish: true,
	})
	if err != nil {
		return Result{}, fmt.Errorf("baseline: create the stream: %w", err)
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
	info, err := log.Info(ctx)
	if err != nil {
		return Result{}, err
	}
	return Result{took, r.gaps, info.State.Bytes, info.State.Msgs}, nil
}

// run is the state of one call of Run.
type run struct {
	Order
	decide, note func(ctx context.Context, m *nats.Msg) (uint64, error)
	fail         context.CancelCauseFunc

	mu   sync.Mutex
	ends map[string]chan struct{} // by instance: closed when it has ended
	last map[string]time.Time     // by instance: when its last step ended
	gaps []time.Duration
}

// all runs the instances of the order.
func (r *run) all(ctx context.Context) error {
	return parallel.Do(ctx, r.Instances, r.InFlight, func(ctx context.Context, i int) error {
		return r.one(ctx, r.Prefix+"-"+strconv.Itoa(i))
	})
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

// event returns the event of a step. prev is the sequence of the instance's newest event.
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

// consume starts the consumers of the agent and the decider.
func (r *run) consume(ctx context.Context, decider, agent *nats.Conn) (stop func(), err error) {
	var running []jetstream.ConsumeContext
	stop = func() {
		for _, c := range running {
			c.Drain()
			<-c.Closed()
		}
	}
	for _, half := range []struct {
		conn *nats.Conn
		kind string
		do   func(ctx context.Context, id string, step int, seq uint64) error
	}{{agent, "work", r.work}, {decider, "note", r.next}} {
		js, err := jetstream.New(half.conn)
		if err != nil {
			return stop, err
		}
		consumer, err := js.CreateOrUpdateConsumer(ctx, stream, jetstream.ConsumerConfig{
			Durable: half.kind, FilterSubjects: []string{events + half.kind + ".>"}, AckPolicy: jetstream.AckExplicitPolicy,
			AckWait: 30 * time.Second, MaxAckPending: 10_000,
		})
		if err != nil {
			return stop, err
		}
		c, err := consumer.Consume(func(m jetstream.Msg) {
			go func() {
				if err := r.handle(ctx, m, half.do); err != nil {
					r.fail(err)
				}
			}()
		})
		if err != nil {
			return stop, err
		}
		running = append(running, c)
	}
	return stop, nil
}

// handle calls do for a message and acknowledges it.
func (r *run) handle(ctx context.Context, m jetstream.Msg, do func(ctx context.Context, id string, step int, seq uint64) error) error {
	at, err := m.Metadata()
	if err != nil {
		return err
	}
	tokens := strings.Split(m.Subject(), ".") // bl evt KIND bench sSTEP ID
	step, err := strconv.Atoi(tokens[4][1:])
	if err != nil {
		return err
	}
	return errors.Join(do(ctx, tokens[5], step, at.Sequence.Stream), m.Ack())
}

// work is the agent's half of a step: it appends a note.
func (r *run) work(ctx context.Context, id string, step int, seq uint64) error {
	if r.Watch {
		r.watch(id)
	}
	_, err := r.note(ctx, event("note", id, step, seq))
	return err
}

// next is the decider's half of a step: it appends the next work.
func (r *run) next(ctx context.Context, id string, step int, seq uint64) error {
	if step < r.Steps {
		_, err := r.decide(ctx, event("work", id, step+1, seq))
		return err
	}
	_, err := r.decide(ctx, event("done", id, step, seq))
	if err == nil {
		r.ended(id)
	}
	return err
}

// watch records the hand-off to a step, which takes no time.
func (r *run) watch(id string) {
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if before, ok := r.last[id]; ok {
		r.gaps = append(r.gaps, now.Sub(before))
	}
	r.last[id] = time.Now()
}
