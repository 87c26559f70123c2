package jetstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
)

// Append implements eventstore.Store. While the server is away it retries until ctx ends.
// The expected sequence lets only one try be stored; a later try is refused as a conflict
// and finds it. A server whose disk is full does not answer an append until it is
// restarted; the error then says so.
func (s *Store) Append(ctx context.Context, c eventstore.Commit) (uint64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if err := c.Check(); err != nil {
		return 0, err
	}
	d := s.foreigners.detour(c)
	msg, err := encode(c, d)
	if err != nil {
		return 0, err
	}
	seq, err := s.append(ctx, pendingAppend{
		instance: c.Instance, msg: msg,
		alone: func(ctx context.Context) (uint64, error) {
			return retry(ctx, s.config.Timeout, func(ctx context.Context) (uint64, error) { return s.publish(ctx, c, msg, d) })
		},
		fits: func(ctx context.Context) bool { return s.fits(ctx, c) },
	})
	if err != nil {
		err = s.full.note(s.diagnosed(ctx, err), time.Now())
		return 0, fmt.Errorf("append %s to %q after %d: %w", c.ID, c.Instance, c.Prev, err)
	}
	_ = s.full.note(nil, time.Time{}) // nil for nil
	s.tracker.advance(seq)
	c.Seq = seq
	s.readers.appended(c)
	return seq, nil
}

// diagnosed adds the reason to an append's error, if the server still answers
// requests that write nothing.
func (s *Store) diagnosed(ctx context.Context, err error) error {
	if !unanswered(err) || errors.Is(err, ErrNoMajority) || !s.js.Conn().IsConnected() {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second/2)
	defer cancel()
	info, unknown := s.stream.Info(ctx)
	reason := leaderless(unknown)
	switch {
	case unknown == nil && s.replicated:
		reason = cmp.Or(majority(info.Cluster), ErrNoMajority)
	case unknown == nil:
		reason = errMute
	case !errors.Is(reason, ErrNoMajority):
		return err
	}
	return fmt.Errorf("%w: %w", reason, err)
}

// publish makes one try to append c, whose message with the detour sent is msg.
func (s *Store) publish(ctx context.Context, c eventstore.Commit, msg *nats.Msg, sent detour) (uint64, error) {
	d := s.foreigners.detour(c) // the try before may have found what is in the way
	if d != sent {
		var err error
		if msg, err = encode(c, d); err != nil {
			return 0, err
		}
	}
	ack, err := s.request(ctx, msg)
	switch {
	case err == nil && !ack.Duplicate:
		return ack.Seq, nil
	case err == nil:
		first, err := s.get(ctx, ack.Seq)
		switch {
		case err != nil:
			return 0, err
		case first.Foreign != nil && d.otherID:
			return 0, fmt.Errorf("%w: %d is no commit", jetstream.ErrInvalidJSAck, ack.Seq)
		case first.Foreign != nil:
			s.foreigners.spend(c.ID)
			return 0, fmt.Errorf("%w: %d has its id", errBlocked, ack.Seq)
		}
		return first.Seq, ours(c, first)
	case conflicts(err):
		return s.find(ctx, c, d)
	case tooLarge(err):
		return 0, fmt.Errorf("%w: %w", eventstore.ErrTooLarge, err)
	}
	return 0, err
}

// fits reports whether c would be the instance's next commit, and no foreign message
// is in its way.
func (s *Store) fits(ctx context.Context, c eventstore.Commit) bool {
	ctx, cancel := context.WithTimeout(ctx, s.config.Timeout)
	defer cancel()
	last, blocked, err := s.last(ctx, c.Instance)
	return err == nil && last.Seq == c.Prev && blocked == 0
}

// find returns the sequence of c if it is among the instance's commits after
// c.Prev, and ErrConflict otherwise. c was sent with the detour d.
func (s *Store) find(ctx context.Context, c eventstore.Commit, d detour) (uint64, error) {
	last, blocked, err := s.last(ctx, c.Instance)
	switch {
	case err != nil:
		return 0, err
	case last.Seq == c.Prev && blocked > d.after:
		return 0, fmt.Errorf("%w: %d is in its place", errBlocked, blocked)
	case last.Seq == c.Prev:
		return 0, errInFlight
	}
	for at := last; at.Seq > c.Prev; {
		if at.ID == c.ID {
			return at.Seq, ours(c, at)
		}
		if at.Prev == 0 {
			break
		}
		if at, err = s.before(ctx, at); err != nil {
			return 0, err
		}
	}
	return 0, fmt.Errorf("%w: it is at %d", eventstore.ErrConflict, last.Seq)
}

// ours returns ErrConflict unless the stored commit with c's ID is c.
func ours(c, stored eventstore.Commit) error {
	if stored.Chain == c.Chain {
		return nil
	}
	return fmt.Errorf("%w: %w: it made commit %d of %q", eventstore.ErrConflict, eventstore.ErrDuplicate, stored.Seq, stored.Instance)
}
