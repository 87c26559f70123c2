package jetstream

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/eventstore"
	"github.com/signalbox/signalbox/pkg/subject"
)

// stride is how many commits are walked back to, a round trip each, before a
// consumer is made that reads the rest: it takes as long as some hundred steps to
// find the first, and then all come at once.
const stride = 200

// forth returns an instance's commits after the sequence after, which is zero or
// one of them, and before the commit end, oldest first.
func (s *Store) forth(ctx context.Context, end eventstore.Commit, after uint64) ([]eventstore.Commit, error) {
	return retry(ctx, 10*s.config.Timeout, func(ctx context.Context) ([]eventstore.Commit, error) {
		filter, err := subject.Instance(end.Instance)
		if err != nil {
			return nil, err
		}
		consumer, err := s.stream.CreateConsumer(ctx, jetstream.ConsumerConfig{
			DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: after + 1, FilterSubjects: []string{filter},
			AckPolicy: jetstream.AckNonePolicy, MemoryStorage: true, Replicas: 1, InactiveThreshold: expiry,
		})
		if err != nil {
			return nil, fmt.Errorf("read %q: %w", end.Instance, err)
		}
		messages, err := consumer.Messages(jetstream.PullMaxMessagesWithBytesLimit(readAhead, readBytes))
		if err != nil {
			return nil, fmt.Errorf("read %q: %w", end.Instance, err)
		}
		defer messages.Stop()
		return s.upTo(ctx, messages, end, after)
	})
}

// upTo reads the commits that lead from the sequence after to end.
func (s *Store) upTo(ctx context.Context, messages jetstream.MessagesContext, end eventstore.Commit, after uint64) ([]eventstore.Commit, error) {
	var commits []eventstore.Commit
	option := jetstream.NextContext(ctx)
	for last := after; ; {
		m, err := messages.Next(option)
		if err != nil {
			return nil, fmt.Errorf("read %q after sequence %d: %w", end.Instance, last, err)
		}
		at, err := m.Metadata()
		if err != nil {
			return nil, err
		}
		if at.Sequence.Consumer != uint64(len(commits))+1 {
			return nil, fmt.Errorf("%w: a delivery went missing", errLost)
		}
		c, err := decode(m.Subject(), m.Headers(), m.Data(), at.Sequence.Stream)
		if err != nil {
			return nil, err
		}
		if c.Prev != last {
			return nil, fmt.Errorf("%w: sequence %d of %q follows %d, want %d", eventstore.ErrCorrupt, c.Seq, c.Instance, c.Prev, last)
		}
		commits, last = append(commits, c), c.Seq
		if c.Seq == end.Prev {
			return commits, nil
		}
		if c.Seq > end.Prev {
			return nil, fmt.Errorf("%w: sequence %d of %q follows %d, which is missing", eventstore.ErrCorrupt, end.Seq, end.Instance, end.Prev)
		}
	}
}
