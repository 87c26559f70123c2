package jetstream

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/eventstore"
	"github.com/signalbox/signalbox/pkg/subject"
)

// Message is one stored message as it is.
type Message struct {
	Seq     uint64
	Stored  time.Time // by the server
	Subject string
	Header  nats.Header
	Data    []byte
}

// Commit is what the message holds; ErrCorrupt, if it is not a commit of ours.
func (m Message) Commit() (eventstore.Commit, error) {
	return decode(m.Subject, m.Header, m.Data, m.Seq)
}

// idle is how long nothing may come before the reader asks whether there is
// something: a server passes over what it cannot read without a word.
const idle = time.Second

// Read calls f for each message from sequence from on that was there when it was
// looked at, in order. What is missing is passed over. It ends with f's error.
// The messages of a mirror are as those of the log.
func (s *Survey) Read(ctx context.Context, from uint64, f func(Message) error) error {
	if s.mirror {
		return s.readAll(ctx, 1, mirrored(from, f))
	}
	return s.readAll(ctx, from, f)
}

// mirrored gives messages back the headers that a mirror takes from them: what
// the instance's commit before was. Their chains tell if it was another.
func mirrored(from uint64, f func(Message) error) func(Message) error {
	newest := map[string]uint64{}
	return func(m Message) error {
		e, err := subject.ParseEvent(m.Subject)
		if err == nil {
			filter, _ := subject.Instance(e.Instance) // it was parsed
			m.Header.Set(jetstream.ExpectedStreamHeader, subject.EventStream)
			m.Header.Set(jetstream.ExpectedLastSubjSeqSubjHeader, filter)
			m.Header.Set(jetstream.ExpectedLastSubjSeqHeader, strconv.FormatUint(newest[e.Instance], 10))
			newest[e.Instance] = m.Seq
		}
		if m.Seq < from {
			return nil
		}
		return f(m)
	}
}

func (s *Survey) readAll(ctx context.Context, from uint64, f func(Message) error) error {
	for next := max(from, 1); !s.Gone && next <= s.Last; {
		found, err := s.resume(ctx, next)
		if err != nil || found == 0 {
			return err
		}
		if next, err = s.read(ctx, found, f); err != nil && !errors.Is(err, errLost) {
			return err
		}
	}
	return ctx.Err()
}

// find returns the first sequence from next on that the server finds; 0: none.
func (s *Survey) find(ctx context.Context, next uint64) (uint64, error) {
	return retry(ctx, 10*idle, func(ctx context.Context) (uint64, error) { return s.next(ctx, next) })
}

func (s *Survey) next(ctx context.Context, next uint64) (uint64, error) {
	m, err := s.stream.GetMsg(ctx, next, jetstream.WithGetMsgSubject(">"))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read stream %s from %d: %w", s.Stream, next, err)
	}
	return m.Sequence, nil
}

// blockBytes is how much a server keeps in one file of a stream.
const blockBytes = 8 << 20

// resume returns the first sequence from next on that can be read; 0: none. A
// server that cannot read the block where it begins to look finds nothing in the
// ones behind it either, so it is asked from further on: in steps that are short
// beside a block, for each costs the reading of one.
func (s *Survey) resume(ctx context.Context, next uint64) (uint64, error) {
	found, err := s.find(ctx, next)
	if err != nil || found > 0 {
		return found, err
	}
	each := max(s.bytes/max(s.Messages, 1), 1)
	most := max(blockBytes/each/16, 1)
	bad, step := next, uint64(1)
	for found == 0 {
		if bad == s.Last {
			return 0, nil
		}
		at := min(bad+step, s.Last)
		if found, err = s.find(ctx, at); err != nil {
			return 0, err
		}
		if found == 0 {
			bad, step = at, min(2*step, most)
		}
	}
	for good := found; bad+1 < good; { // something between may be readable
		at := bad + (good-bad)/2
		earlier, err := s.find(ctx, at)
		switch {
		case err != nil:
			return 0, err
		case earlier == 0:
			bad = at
		default:
			found, good = earlier, at
		}
	}
	return found, nil
}

// read reads with one consumer, until the end or until that is of no more use,
// and returns the sequence to go on at.
func (s *Survey) read(ctx context.Context, next uint64, f func(Message) error) (uint64, error) {
	consumer, err := s.stream.CreateConsumer(ctx, jetstream.ConsumerConfig{
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: next,
		AckPolicy: jetstream.AckNonePolicy, MemoryStorage: true, Replicas: 1, InactiveThreshold: 3 * expiry,
	})
	if err != nil {
		return next, fmt.Errorf("read stream %s: %w", s.Stream, err)
	}
	messages, err := consumer.Messages(jetstream.PullMaxMessagesWithBytesLimit(readAhead, readBytes), jetstream.PullExpiry(expiry))
	if err != nil {
		return next, fmt.Errorf("read stream %s: %w", s.Stream, err)
	}
	defer messages.Stop()
	defer context.AfterFunc(ctx, messages.Stop)()
	for delivered := uint64(1); next <= s.Last; delivered++ {
		m, err := messages.Next(jetstream.NextMaxWait(idle))
		if ctx.Err() != nil {
			return next, ctx.Err()
		}
		if err != nil {
			return next, fmt.Errorf("%w: %w", errLost, err)
		}
		at, err := m.Metadata()
		if err != nil {
			return next, fmt.Errorf("read stream %s at %d: %w", s.Stream, next, err)
		}
		if at.Sequence.Consumer != delivered {
			return next, fmt.Errorf("%w: a delivery went missing", errLost)
		}
		if at.Sequence.Stream > s.Last {
			return at.Sequence.Stream, nil
		}
		if err := f(Message{at.Sequence.Stream, at.Timestamp, m.Subject(), m.Headers(), m.Data()}); err != nil {
			return next, err
		}
		next = at.Sequence.Stream + 1
	}
	return next, nil
}
