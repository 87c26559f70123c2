package jetstream

import (
	"context"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/pkg/eventstore"
)

const (
	lookEvery = 200 * time.Millisecond // at whether others have appended
	late      = 20 * time.Millisecond  // may an acknowledgement come after the next one's
)

// listen reads what the store itself appends, until there is something that it did
// not, which is errLost: then the log is read. Now and then it looks whether that
// is so, and whether it still is the log that it was.
func (r *reader) listen(ctx context.Context) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	connected := r.store.js.Conn().Stats().Reconnects
	var missing uint64
	var gap <-chan time.Time // since it was noticed
	for {
		c, ok, ahead := r.feed.take()
		if ok {
			if err := r.take(c); err != nil {
				return err
			}
			continue
		}
		if ahead && missing != r.next {
			missing, gap = r.next, time.After(late)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-r.feed.more:
		case <-gap:
			if gap = nil; missing == r.next {
				return fmt.Errorf("%w: %d is another's", errLost, missing)
			}
		case <-tick.C:
			if r.store.js.Conn().Stats().Reconnects != connected {
				return fmt.Errorf("%w: the connection was", errLost)
			}
			last, err := r.store.examine(ctx, r.next-1)
			if err != nil {
				return r.lost(ctx, err)
			}
			r.store.feeds.reaches(last)
		}
	}
}

// same checks that the commit that was read last is where it was: a log that was cut
// short may have grown again since.
func (r *reader) same(ctx context.Context) error {
	if r.last.Seq == 0 {
		return nil
	}
	there, err := once(ctx, r.store.config.Timeout, func(ctx context.Context) (eventstore.Commit, error) { return r.store.get(ctx, r.last.Seq) })
	if err == nil && there.Chain != r.last.Chain {
		err = fmt.Errorf("%w: commit %d is not the one that was read: %s of %q, want %s of %q", eventstore.ErrCorrupt, there.Seq, there.ID, there.Instance, r.last.ID, r.last.Instance)
	}
	return err
}
