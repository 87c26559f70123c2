package jetstream

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

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
			earlier, err := s.loadForward(ctx, c, eventstore.Part{After: after, Size: math.MaxInt})
			if err == nil && earlier.commits[0].Prev != after {
				err = notOwn(earlier.commits[0], after)
			}
			slices.Reverse(commits)
			return append(earlier.commits, commits...), err
		}
		if c, err = retry(ctx, s.config.Timeout, func(ctx context.Context) (eventstore.Commit, error) { return s.before(ctx, c) }); err != nil {
			return nil, err
		}
	}
	if c.Seq != after && c.Prev != after {
		return nil, notOwn(c, after)
	}
	slices.Reverse(commits)
	return commits, nil
}

func notOwn(c eventstore.Commit, after uint64) error {
	return fmt.Errorf("%w: sequence %d of %q follows %d, want %d", eventstore.ErrCorrupt, c.Seq, c.Instance, c.Prev, after)
}

// near is how many commits Page gets one by one, before it makes a consumer.
const near = 8

// Page implements eventstore.Store.
func (s *Store) Page(ctx context.Context, instance string, p eventstore.Part) ([]eventstore.Commit, bool, error) {
	last, err := s.Last(ctx, instance)
	if err != nil || last.Seq <= p.After || p.Until > 0 && p.Until <= p.After {
		return nil, false, err
	}
	r := chain{Part: p}
	behind := []eventstore.Commit{last}
	for c := last; c.Prev > p.After && len(behind) < near; behind = append(behind, c) {
		if c, err = retry(ctx, s.config.Timeout, func(ctx context.Context) (eventstore.Commit, error) { return s.before(ctx, c) }); err != nil {
			return nil, false, err
		}
	}
	slices.Reverse(behind)
	if behind[0].Prev > p.After {
		if r, err = s.loadForward(ctx, behind[0], p); err != nil {
			return nil, false, err
		}
	}
	for _, c := range behind {
		if !r.add(c) {
			break
		}
	}
	return r.commits, r.more, nil
}

// gatherers is how many messages Gather gets at a time.
const gatherers = 16

// Gather implements eventstore.Store.
func (s *Store) Gather(ctx context.Context, instance string, seqs []uint64) ([]eventstore.Commit, error) {
	commits := make([]eventstore.Commit, len(seqs))
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(gatherers)
	for i, seq := range seqs {
		all.Go(func() (err error) {
			commits[i], err = retry(ctx, s.config.Timeout, func(ctx context.Context) (eventstore.Commit, error) { return s.get(ctx, seq) })
			if err == nil && (commits[i].Instance != instance || commits[i].Foreign != nil) {
				err = fmt.Errorf("%w: sequence %d is no commit of %q", eventstore.ErrCorrupt, seq, instance)
			}
			return err
		})
	}
	return commits, all.Wait()
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
	if seq == 0 { // the server takes it for a bad request
		return eventstore.Commit{}, fmt.Errorf("%w: no commit has the sequence 0", eventstore.ErrCorrupt)
	}
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

// chain is a page of a part of an instance's past as it is read.
type chain struct {
	eventstore.Part // its Size is the room that is left
	commits         []eventstore.Commit
	full, more      bool
}

// add adds the next commit, and reports whether that belonged to the part and had room.
func (r *chain) add(c eventstore.Commit) bool {
	if r.full {
		return false
	}
	r.Size -= len(c.Data)
	beyond := r.Beyond(c)
	r.more = !beyond && r.Size < 0 && len(r.commits) > 0
	if r.full = beyond || r.more; !r.full {
		r.commits = append(r.commits, c)
	}
	return !r.full
}

// loadForward returns a page of an instance's commits before the commit end.
func (s *Store) loadForward(ctx context.Context, end eventstore.Commit, p eventstore.Part) (chain, error) {
	return retry(ctx, 10*s.config.Timeout, func(ctx context.Context) (chain, error) {
		filter, err := subject.Instance(end.Instance)
		if err != nil {
			return chain{}, err
		}
		consumer, err := s.stream.CreateConsumer(ctx, jetstream.ConsumerConfig{
			DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: p.After + 1, FilterSubjects: []string{filter},
			AckPolicy: jetstream.AckNonePolicy, MemoryStorage: true, Replicas: 1, InactiveThreshold: expiry,
		})
		if err != nil {
			return chain{}, fmt.Errorf("read %q: %w", end.Instance, err)
		}
		count, size := readAhead, min(readBytes, p.Size)
		if p.Until > 0 { // it cannot have more
			count = int(min(p.Until-p.After, readAhead))
		}
		size = max(size, int(s.js.Conn().MaxPayload())) // a server refuses a pull in which the next message has no room
		messages, err := consumer.Messages(jetstream.PullMaxMessagesWithBytesLimit(count, size))
		if err != nil {
			return chain{}, fmt.Errorf("read %q: %w", end.Instance, err)
		}
		defer messages.Stop()
		return readChain(ctx, messages, end, p)
	})
}

// readChain reads the page.
func readChain(ctx context.Context, messages jetstream.MessagesContext, end eventstore.Commit, p eventstore.Part) (chain, error) {
	var delivered uint64
	option := jetstream.NextContext(ctx)
	r := chain{Part: p}
	for last := p.After; ; {
		m, err := messages.Next(option)
		if err != nil {
			return r, fmt.Errorf("read %q after sequence %d: %w", end.Instance, last, err)
		}
		at, err := m.Metadata()
		if err != nil {
			return r, err
		}
		if delivered++; at.Sequence.Consumer != delivered {
			return r, fmt.Errorf("%w: a delivery went missing", errLost)
		}
		c, err := decode(m.Subject(), m.Headers(), m.Data(), at.Sequence.Stream)
		if err != nil {
			return r, err
		}
		if c.Foreign != nil && c.Seq < end.Prev {
			continue
		}
		if first := len(r.commits) == 0; c.Foreign != nil || c.Prev > last || c.Prev < last && !first {
			return r, notOwn(c, last)
		}
		if c.Seq > end.Prev {
			return r, fmt.Errorf("%w: sequence %d of %q follows %d, which is missing", eventstore.ErrCorrupt, end.Seq, end.Instance, end.Prev)
		}
		if last = c.Seq; !r.add(c) || c.Seq == end.Prev {
			return r, nil
		}
	}
}
