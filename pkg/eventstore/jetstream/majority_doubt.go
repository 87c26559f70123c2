package jetstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/pkg/eventstore"
)

// doubt is how long a server of a cluster may answer for a log that the others
// have more of: it led and was cut off, or it is back and catches up.
const doubt = 30 * time.Second

// examine checks that the stream is the one the watermark means, whole, and has
// at least so many commits, and returns its last sequence. In a cluster nobody is
// believed at once that it is not so: it is looked at again until doubt, or ctx,
// ends.
func (s *Store) examine(ctx context.Context, least uint64) (uint64, error) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for end := time.Now().Add(doubt); ; {
		last, err := once(ctx, s.config.Timeout, s.inspect)
		if err == nil && last < least {
			err = fmt.Errorf("%w: it ends at %d, want at least %d", eventstore.ErrCorrupt, last, least)
		}
		if !s.replicated || !errors.Is(err, eventstore.ErrCorrupt) || time.Now().After(end) {
			return last, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return last, err
		}
	}
}
