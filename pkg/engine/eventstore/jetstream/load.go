package jetstream

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/subject"
)

// Last implements eventstore.Store.
func (s *Store) Last(ctx context.Context, instance string) (eventstore.Commit, error) {
	if err := ctx.Err(); err != nil {
		return eventstore.Commit{}, err
	}
	c, err := retry(ctx, s.config.Timeout, func(ctx context.Context) (eventstore.Commit, error) {
		c, _, err := s.last(ctx, instance)
		return c, err
	})
	if err == nil && c.Seq == 0 {
		err = fmt.Errorf("%w: %q", eventstore.ErrUnknown, instance)
	}
	return c, err
}

// Load implements eventstore.Store. It walks from the last commit to the first. A
// consumer with the instance's filter reads through the whole log, which pays for
// a long history only.
func (s *Store) Load(ctx context.Context, instance string) ([]eventstore.Commit, error) {
	last, err := s.Last(ctx, instance)
	if err != nil {
		return nil, err
	}
	commits, err := s.loadBackward(ctx, last, 0)
	if err != nil {
		return nil, err
	}
	return commits, eventstore.VerifyChain(commits)
}

// Since implements eventstore.Store.
func (s *Store) Since(ctx context.Context, instance string, after uint64) ([]eventstore.Commit, error) {
	last, err := s.Last(ctx, instance)
	switch {
	case errors.Is(err, eventstore.ErrUnknown) && after == 0:
		return nil, nil
	case errors.Is(err, eventstore.ErrUnknown):
		return nil, fmt.Errorf("%w: %q has no commit at sequence %d: it has none", eventstore.ErrCorrupt, instance, after)
	case err != nil:
		return nil, err
	}
	return s.loadBackward(ctx, last, after)
}

// loadBackward walks from the commit c of an instance back to the one after the
// sequence after, and returns these commits, oldest first.
func (s *Store) loadBackward(ctx context.Context, c eventstore.Commit, after uint64) (commits []eventstore.Commit, err error) {
	for c.Seq > after {
		commits = append(commits, c)
		if c.Prev <= after {
			break
		}
		if len(commits) == maxWalk {
			earlier, err := s.loadForward(ctx, c, after)
			slices.Reverse(commits)
			return append(earlier, commits...), err
		}
		if c, err = retry(ctx, s.config.Timeout, func(ctx context.Context) (eventstore.Commit, error) { return s.before(ctx, c) }); err != nil {
			return nil, err
		}
	}
	if c.Seq != after && c.Prev != after {
		return nil, fmt.Errorf("%w: sequence %d of %q follows %d, want %d", eventstore.ErrCorrupt, c.Seq, c.Instance, c.Prev, after)
	}
	slices.Reverse(commits)
	return commits, nil
}

// last returns the instance's newest commit; the zero Commit if it has none. blocked
// is the sequence of a foreign message that came after it; zero if none did.
func (s *Store) last(ctx context.Context, instance string) (c eventstore.Commit, blocked uint64, err error) {
	filter, err := subject.Instance(instance)
	if err != nil {
		return eventstore.Commit{}, 0, fmt.Errorf("%w: %w", eventstore.ErrUnknown, err)
	}
	m, err := s.stream.GetLastMsgForSubject(ctx, filter)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return eventstore.Commit{}, 0, nil
	}
	if err != nil {
		return eventstore.Commit{}, 0, fmt.Errorf("get the last commit of %q: %w", instance, err)
	}
	c, err = decode(m.Subject, m.Header, m.Data, m.Sequence)
	if c.Foreign != nil {
		c, err = s.lastBefore(ctx, instance, m.Sequence)
		return c, m.Sequence, err
	}
	return c, 0, err
}

// before returns the commit that c follows.
func (s *Store) before(ctx context.Context, c eventstore.Commit) (eventstore.Commit, error) {
	if c.Prev >= c.Seq {
		return eventstore.Commit{}, fmt.Errorf("%w: sequence %d of %q claims to follow %d", eventstore.ErrCorrupt, c.Seq, c.Instance, c.Prev)
	}
	p, err := s.get(ctx, c.Prev)
	if err == nil && p.Foreign != nil {
		return p, fmt.Errorf("%w: sequence %d of %q follows %d, which is no commit", eventstore.ErrCorrupt, c.Seq, c.Instance, p.Seq)
	}
	if err == nil && p.Instance != c.Instance {
		err = fmt.Errorf("%w: sequence %d of %q follows %d, which is of %q", eventstore.ErrCorrupt, c.Seq, c.Instance, p.Seq, p.Instance)
	}
	return p, err
}

// get returns the commit at a sequence that must be there.
func (s *Store) get(ctx context.Context, seq uint64) (eventstore.Commit, error) {
	m, err := s.stream.GetMsg(ctx, seq)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return eventstore.Commit{}, fmt.Errorf("%w: sequence %d is missing", eventstore.ErrCorrupt, seq)
	}
	if err != nil {
		return eventstore.Commit{}, fmt.Errorf("get sequence %d: %w", seq, err)
	}
	return decode(m.Subject, m.Header, m.Data, m.Sequence)
}

// maxWalk bounds the commits that loadBackward gets one by one, a round trip each.
// The rest is read by a consumer: to find its first message takes as long as some
// hundred round trips, then all come at once.
const maxWalk = 200

// loadForward returns an instance's commits after the sequence after, which is zero
// or one of them, and before the commit end, oldest first.
func (s *Store) loadForward(ctx context.Context, end eventstore.Commit, after uint64) ([]eventstore.Commit, error) {
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
		return s.readChain(ctx, messages, end, after)
	})
}

// readChain reads the commits that lead from the sequence after to end.
func (s *Store) readChain(
	ctx context.Context, messages jetstream.MessagesContext, end eventstore.Commit, after uint64,
) ([]eventstore.Commit, error) {
	var commits []eventstore.Commit
	var delivered uint64
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
		if delivered++; at.Sequence.Consumer != delivered {
			return nil, fmt.Errorf("%w: a delivery went missing", errLost)
		}
		c, err := decode(m.Subject(), m.Headers(), m.Data(), at.Sequence.Stream)
		if err != nil {
			return nil, err
		}
		if c.Foreign != nil && c.Seq < end.Prev {
			continue
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
