package crashtest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/subject"
)

// drained waits until all that was handed out is settled.
func (s *Stage) drained(ctx context.Context) error {
	for _, queue := range s.Service.Queues {
		if err := s.empty(ctx, queue); err != nil {
			return err
		}
	}
	return nil
}

func (s *Stage) empty(ctx context.Context, queue string) error {
	consumer, err := s.JS.Consumer(ctx, subject.EventStream, queue)
	for err == nil {
		var info *jetstream.ConsumerInfo
		if info, err = consumer.Info(ctx); err != nil {
			break
		}
		switch {
		case info.NumPending == 0 && info.NumAckPending == 0:
			return nil
		case info.NumAckPending == 0:
			err = recount(consumer)
		}
		if ended := pause(ctx); ended != nil {
			err = errors.Join(err, fmt.Errorf("of the queue %s %d are not handed out and %d not settled: %w", queue, info.NumPending, info.NumAckPending, ended))
		}
	}
	return err
}

// recount asks for a message and gives it back: a nats-server that is asked about
// a consumer while it delivers may count one too many until somebody asks for more.
func recount(consumer jetstream.Consumer) error {
	batch, err := consumer.FetchNoWait(1)
	if err != nil {
		return err
	}
	for msg := range batch.Messages() {
		err = errors.Join(err, msg.Nak())
	}
	return errors.Join(err, batch.Error())
}

// reclaim has all that was handed out and not settled handed out again, also what
// never arrived. Only the server knows that, and does not tell; but it takes any
// message back that is, by an acknowledgement's subject (ADR-15 of NATS), and
// heeds none that is not.
func (s *Stage) reclaim(queue string) error {
	consumer, err := s.JS.Consumer(s.Ctx, subject.EventStream, queue)
	if err != nil {
		return err
	}
	info := consumer.CachedInfo()
	for seq := info.AckFloor.Stream + 1; seq <= info.Delivered.Stream && err == nil; seq++ {
		err = s.nc.Publish(fmt.Sprintf("%s%s.%s.1.%d.%d.%d.0", acks, subject.EventStream, queue, seq, info.Delivered.Consumer, time.Now().UnixNano()), []byte("-NAK"))
	}
	return err
}
