// Package jetstream keeps the log in one NATS JetStream stream, a commit a
// message, and makes the other streams and buckets Signalbox needs.
//
// A message's headers carry what the port promises. They are its id (deduplication), the
// hash chain, and the sequence expected on the instance's canonical filter. That is
// optimistic concurrency, and the pointer to the previous commit.
package jetstream

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/subject"
)

// Config is how the log is kept.
type Config struct {
	// Replicas of the stream, 1 to 5, used when it is created; 0 is 1.
	Replicas int
	// Watermark is a file that remembers which log this was and how far it went. Put it on
	// another disk than the log if there is one. Empty keeps the watermark in a key-value
	// bucket next to the log. That sees a deleted or replaced stream, but goes with the
	// server's store if that is lost.
	Watermark string
	// Source is the CloudEvents source of all commits, kept when the log is made;
	// empty is "/signalbox".
	Source string
	// Timeout of one request to the server; 0 is 2 s. A request that timed out is
	// repeated until its context ends.
	Timeout time.Duration
	// Sync is how often the server flushes to disk, as it is configured itself.
	// Zero means before each acknowledgement: then appends of the same moment are
	// sent as one batch, which costs one flush. Otherwise a batch costs more than
	// it saves.
	Sync time.Duration
	// Alone means that no other process appends to the log, or only for a moment.
	// Then a Read that has caught up takes the store's own commits from memory, and
	// checks five times a second whether the log has others.
	Alone bool
}

// Store is an eventstore.Store. Make one with Open and Close it.
type Store struct {
	js         jetstream.JetStream
	stream     jetstream.Stream
	config     Config
	tracker    *watermarkTracker
	replicated bool                                                 // several servers keep the log
	send       func(context.Context, *nats.Msg) (*nats.Msg, error)  // sends a request to the server
	append     func(context.Context, pendingAppend) (uint64, error) // alone or by groupCommit
	readers    localReaders
	foreigners foreigners
	full       fullness
}

var _ eventstore.Store = (*Store)(nil)

// Head implements eventstore.Store.
func (s *Store) Head(ctx context.Context) (uint64, error) {
	info, err := retry(ctx, s.config.Timeout, func(ctx context.Context) (*jetstream.StreamInfo, error) {
		return s.stream.Info(ctx)
	})
	if err != nil {
		return 0, fmt.Errorf("look at stream %s: %w", subject.EventStream, err)
	}
	s.readers.setHead(info.State.LastSeq)
	return info.State.LastSeq, nil
}

// closing is how long Close tries to save the watermark.
const closing = 5 * time.Second

// Close saves the watermark. The caller closes the connection afterwards.
func (s *Store) Close(ctx context.Context) error {
	s.tracker.closed.Store(true)
	ctx, cancel := context.WithTimeout(ctx, closing)
	defer cancel()
	_, err := retry(ctx, saveEvery, func(ctx context.Context) (struct{}, error) { return struct{}{}, s.tracker.save(ctx) })
	return err
}
