// Package jetstream keeps the log in one NATS JetStream stream, a commit a
// message, and makes the other streams and buckets Signalbox needs.
//
// A message's headers carry what the port promises: its id (deduplication), the
// sequence expected on the instance's canonical filter (optimistic concurrency,
// and thereby the pointer to the previous commit), and the hash chain.
package jetstream

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/eventstore"
	"github.com/signalbox/signalbox/pkg/subject"
)

// Config says how the log is kept.
type Config struct {
	// Replicas of the stream, 1 to 5, used when it is created; 0 is 1.
	Replicas int
	// Watermark is a file that remembers which log this was and how far it
	// went. Put it on another disk than the log if there is one. Empty keeps
	// the watermark in a key-value bucket beside the log: that sees a deleted
	// or replaced stream, but goes with the server's store if that is lost.
	Watermark string
	// Source is the CloudEvents source of all commits, kept when the log is made;
	// empty is "/signalbox".
	Source string
	// Timeout of one request to the server; 0 is 2 s. One that timed out is made
	// again until its context ends: it only bounds how long a lost answer is
	// waited for.
	Timeout time.Duration
	// Sync is how often the server flushes to disk, as it was told itself. Zero:
	// before it acknowledges. Then each append alone costs a flush, and those
	// that come at the same time are sent as one batch; otherwise a batch costs
	// more than it saves.
	Sync time.Duration
	// Alone says that nobody else appends to the log, but for a moment. Then a Read
	// that has caught up is told by the store itself what that appends, and looks
	// five times a second whether there is anything else.
	Alone bool
}

// Store is an eventstore.Store. Make one with Open and Close it.
type Store struct {
	js         jetstream.JetStream
	stream     jetstream.Stream
	config     Config
	mark       *marker
	replicated bool                                                // several servers keep the log
	send       func(context.Context, *nats.Msg) (*nats.Msg, error) // a message that asks for an answer
	append     func(context.Context, entry) (uint64, error)        // alone or with others
	feeds      feeds
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
	s.feeds.reaches(info.State.LastSeq)
	return info.State.LastSeq, nil
}

// closing is how long Close looks for a server that takes the watermark.
const closing = 5 * time.Second

// Close writes the watermark. The connection is the caller's to close, later.
func (s *Store) Close(ctx context.Context) error {
	s.mark.closed.Store(true)
	ctx, cancel := context.WithTimeout(ctx, closing)
	defer cancel()
	_, err := retry(ctx, saveEvery, func(ctx context.Context) (struct{}, error) { return struct{}{}, s.mark.save(ctx) })
	return err
}
