package jetstream

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/eventstore"
	"github.com/signalbox/signalbox/pkg/subject"
)

// Last implements eventstore.Store.
func (s *Store) Last(ctx context.Context, instance string) (eventstore.Commit, error) {
	if err := ctx.Err(); err != nil {
		return eventstore.Commit{}, err
	}
	c, err := retry(ctx, s.config.Timeout, func(ctx context.Context) (eventstore.Commit, error) { return s.last(ctx, instance) })
	if err == nil && c.Seq == 0 {
		err = fmt.Errorf("%w: %q", eventstore.ErrUnknown, instance)
	}
	return c, err
}

// Load implements eventstore.Store. It walks from the last commit to the first:
// a consumer with the instance's filter reads through the whole log, and is worth
// it for a long history alone.
func (s *Store) Load(ctx context.Context, instance string) ([]eventstore.Commit, error) {
	last, err := s.Last(ctx, instance)
	if err != nil {
		return nil, err
	}
	commits, err := s.back(ctx, last, 0)
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
	return s.back(ctx, last, after)
}

// back walks from an instance's last commit to the one after the sequence after,
// and returns those between, oldest first.
func (s *Store) back(ctx context.Context, c eventstore.Commit, after uint64) (commits []eventstore.Commit, err error) {
	for c.Seq > after {
		commits = append(commits, c)
		if c.Prev <= after {
			break
		}
		if len(commits) == stride {
			earlier, err := s.forth(ctx, c, after)
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

// last returns the instance's newest commit; the zero Commit if it has none.
func (s *Store) last(ctx context.Context, instance string) (eventstore.Commit, error) {
	filter, err := subject.Instance(instance)
	if err != nil {
		return eventstore.Commit{}, fmt.Errorf("%w: %w", eventstore.ErrUnknown, err)
	}
	m, err := s.stream.GetLastMsgForSubject(ctx, filter)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return eventstore.Commit{}, nil
	}
	if err != nil {
		return eventstore.Commit{}, fmt.Errorf("get the last commit of %q: %w", instance, err)
	}
	return decode(m.Subject, m.Header, m.Data, m.Sequence)
}

// before returns the commit that c follows.
func (s *Store) before(ctx context.Context, c eventstore.Commit) (eventstore.Commit, error) {
	if c.Prev >= c.Seq {
		return eventstore.Commit{}, fmt.Errorf("%w: sequence %d of %q says it follows %d", eventstore.ErrCorrupt, c.Seq, c.Instance, c.Prev)
	}
	p, err := s.get(ctx, c.Prev)
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
