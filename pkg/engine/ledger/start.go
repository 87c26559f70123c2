package ledger

import (
	"context"
	"errors"
	"sort"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
)

// errRead ends a read of the log.
var errRead = errors.New("it is read")

// Start returns the sequence of the first commit of the log at or after a time; one more
// than the newest if there is none. It reads few commits: their times only grow, but for
// what clocks of several orchestrators are apart.
func Start(ctx context.Context, log eventstore.Store, at time.Time) (uint64, error) {
	head, err := log.Head(ctx)
	if err != nil {
		return 0, err
	}
	n := sort.Search(int(head), func(i int) bool {
		var made time.Time
		if err == nil {
			made, err = timeOf(ctx, log, uint64(i)+1)
		}
		return !made.Before(at)
	})
	return uint64(n) + 1, err
}

// timeOf returns when a commit was made.
func timeOf(ctx context.Context, log eventstore.Store, seq uint64) (at time.Time, err error) {
	err = log.Read(ctx, seq, func(c eventstore.Commit) error {
		if at = c.Time; c.Foreign != nil {
			at = c.Foreign.Stored
		}
		return errRead
	}, nil)
	if errors.Is(err, errRead) {
		err = nil
	}
	return at, err
}
