package jetstream

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/subject"
)

// restoring is the stream's metadata key while it is restored from a backup: the
// backup's head hash. Open refuses such a log.
const restoring = "signalbox-restoring"

// Errors of Rebuild.
var (
	ErrNotEmpty = errors.New("there is a log already")
	ErrLoss     = errors.New("the log reached further than the backup")
)

// Origin describes the backup that a log is restored from.
type Origin struct {
	Metadata map[string]string // of the stream that was backed up, with its identity
	Head     string            // names the backup
	Last     uint64            // sequence of its newest commit
	Lossy    bool              // restore although the watermark has a higher sequence
}

// Rebuilding is a log that is being restored: the same messages at the same
// sequences. Make one with Rebuild. It is not safe for concurrent use.
type Rebuilding struct {
	Last uint64 // sequence of the newest message that is restored

	js        jetstream.JetStream
	stream    jetstream.Stream
	watermark watermarkStore
}

// Rebuild creates the stream of a log, or continues one that a rebuilding from the
// same backup left. The log keeps its identity. ErrNotEmpty: there is another log,
// or another backup is being restored. ErrLoss: the watermark is of more commits
// than the backup has, or of another log.
func Rebuild(ctx context.Context, js jetstream.JetStream, c Config, o Origin) (*Rebuilding, error) {
	there, err := OpenAuditReader(ctx, js, "", c)
	if err != nil && !errors.Is(err, ErrNoLog) {
		return nil, err
	}
	r := &Rebuilding{js: js, Last: there.Last}
	metadata := maps.Clone(o.Metadata)
	metadata[restoring] = o.Head
	if there.stream != nil {
		config := there.stream.CachedInfo().Config
		if config.Metadata[restoring] != o.Head && there.Last > 0 || config.Metadata[restoring] != "" && config.Metadata[restoring] != o.Head {
			return nil, fmt.Errorf("%w: stream %s has %d commits, identity %s; a backup is restored to where there is none",
				ErrNotEmpty, there.Stream, there.Last, there.Identity)
		}
	}
	// An empty log that an orchestrator made in place of the lost one proves nothing.
	if want := there.watermarked; !o.Lossy && want.Seq > 0 && (want.Identity != o.Metadata[identity] || want.Seq > o.Last) {
		return nil, fmt.Errorf("%w: it has %d commits of identity %s, and the watermark (%s) means %s",
			ErrLoss, o.Last, o.Metadata[identity], there.WatermarkName, want)
	}
	if there.stream == nil {
		r.stream, err = js.CreateStream(ctx, logConfig(c.Replicas, metadata))
	} else {
		config := there.stream.CachedInfo().Config
		config.Metadata = metadata
		r.stream, err = js.UpdateStream(ctx, config)
	}
	if err != nil {
		return nil, fmt.Errorf("make stream %s: %w", subject.EventStream, enabled(err))
	}
	r.watermark, err = openWatermarkStore(ctx, js, c)
	return r, err
}

// Prefixes of headers that are not restored. Of a commit, they are those that say how it
// was sent. Of a foreign message, they are all that the server may act on.
const (
	transport = "Nats-Batch-"
	orders    = "Nats-"
)

// Put appends messages. Their sequences have to follow Last.
func (r *Rebuilding) Put(ctx context.Context, all []Message) error {
	acks := make([]jetstream.PubAckFuture, len(all))
	for i, m := range all {
		header, drop := maps.Clone(m.Header), transport
		if foreign(m.Header) {
			drop = orders
		}
		maps.DeleteFunc(header, func(name string, _ []string) bool { return strings.HasPrefix(name, drop) })
		var err error
		if acks[i], err = r.js.PublishMsgAsync(&nats.Msg{Subject: m.Subject, Header: header, Data: m.Data}); err != nil {
			return fmt.Errorf("append sequence %d: %w", m.Seq, err)
		}
	}
	for i, m := range all {
		select {
		case ack := <-acks[i].Ok():
			if ack.Sequence != m.Seq || ack.Duplicate {
				return fmt.Errorf("%w: sequence %d was stored as %d: another process writes", eventstore.ErrConflict, m.Seq, ack.Sequence)
			}
		case err := <-acks[i].Err():
			return fmt.Errorf("append sequence %d: %w", m.Seq, err)
		case <-ctx.Done():
			return ctx.Err()
		}
		r.Last = m.Seq
	}
	return nil
}

// Queue creates a role's consumer, with everything up to the sequence acknowledged.
func (r *Rebuilding) Queue(ctx context.Context, role string, filters []string, done uint64) error {
	if err := EnsureConsumer(ctx, r.js, role, filters, ConsumerConfig{}); err != nil {
		return err
	}
	if done == 0 {
		return nil
	}
	if _, err := r.js.ResetConsumerToSequence(ctx, subject.EventStream, role, done+1); err != nil {
		return fmt.Errorf("set consumer %s to %d: %w", role, done+1, err)
	}
	return nil
}

// End opens the log for use, and saves its watermark.
func (r *Rebuilding) End(ctx context.Context) error {
	info, err := r.stream.Info(ctx)
	if err != nil {
		return fmt.Errorf("look at stream %s: %w", subject.EventStream, err)
	}
	if err := r.watermark.save(ctx, markOf(info)); err != nil {
		return fmt.Errorf("keep the watermark %s: %w", r.watermark, err)
	}
	config := info.Config
	delete(config.Metadata, restoring)
	if _, err := r.js.UpdateStream(ctx, config); err != nil {
		return fmt.Errorf("open stream %s: %w", subject.EventStream, err)
	}
	return nil
}
