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
		var now level
		if now, err = s.level(ctx, consumer); err != nil || now.empty() {
			break
		}
		if now.waiting > 0 && now.unsettled == 0 {
			err = recount(consumer)
		}
		if ended := pause(ctx); ended != nil {
			err = errors.Join(err, fmt.Errorf("of the queue %s %d are not handed out and %d not settled; it is at %d of %d: %w", queue, now.waiting, now.unsettled, now.at, now.last, ended))
		}
	}
	return err
}

// level is how full a queue is, as its consumer counts, and how far it has got:
// the sequences of what it handed out last and of the last there is for it.
type level struct{ waiting, unsettled, at, last uint64 }

// empty takes no count for it: a nats-server tells a consumer of a message only
// after it has acknowledged it to who appended it.
func (l level) empty() bool { return l.at >= l.last && l.waiting == 0 && l.unsettled == 0 }

func (s *Stage) level(ctx context.Context, consumer jetstream.Consumer) (level, error) {
	last, err := s.last(ctx, consumer.CachedInfo().Config.FilterSubjects)
	if err != nil {
		return level{}, err
	}
	info, err := consumer.Info(ctx)
	if err != nil {
		return level{}, err
	}
	return level{info.NumPending, uint64(info.NumAckPending), info.Delivered.Stream, last}, nil
}

// last is the sequence of the last commit on one of the subjects, or 0.
func (s *Stage) last(ctx context.Context, filters []string) (last uint64, err error) {
	events, err := s.JS.Stream(ctx, subject.EventStream)
	if err != nil {
		return 0, err
	}
	for _, filter := range filters {
		msg, err := events.GetLastMsgForSubject(ctx, filter)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue
		}
		if err != nil {
			return 0, err
		}
		last = max(last, msg.Sequence)
	}
	return last, nil
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
