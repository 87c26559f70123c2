package baseline

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// consume has both halves of a step done for each message that comes.
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
		consumer, err := js.CreateOrUpdateConsumer(ctx, Stream, jetstream.ConsumerConfig{
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

func (r *run) handle(ctx context.Context, m jetstream.Msg, do func(ctx context.Context, id string, step int, seq uint64) error) error {
	at, err := m.Metadata()
	if err != nil {
		return err
	}
	tokens := strings.Split(m.Subject(), ".") // fl evt KIND bench sSTEP ID
	step, err := strconv.Atoi(tokens[4][1:])
	if err != nil {
		return err
	}
	return errors.Join(do(ctx, tokens[5], step, at.Sequence.Stream), m.Ack())
}

// work is the agent's half: it does nothing, and says so.
func (r *run) work(ctx context.Context, id string, step int, seq uint64) error {
	if r.Watch {
		r.pass(id)
	}
	_, err := r.note(ctx, event("note", id, step, seq))
	return err
}

// next is the decider's half.
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

// pass notes that a step began, and ended.
func (r *run) pass(id string) {
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if before, ok := r.last[id]; ok {
		r.gaps = append(r.gaps, now.Sub(before))
	}
	r.last[id] = time.Now()
}
