package jetstream

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/subject"
)

// identity is the stream's metadata key for the random id it got when it was made.
const identity = "signalbox-identity"

// Open opens the log, and creates it at the first run. The watermark tells a first run from
// a loss. A log that is gone, empty, another one, younger or shorter than the watermark
// says is ErrCorrupt, and so is one with a gap. While a cluster elects its leader, Open
// retries until ctx ends.
func Open(ctx context.Context, js jetstream.JetStream, config Config) (*Store, error) {
	if config.Source == "" {
		config.Source = "/signalbox"
	}
	if config.Timeout == 0 {
		config.Timeout = 2 * time.Second
	}
	// A try is several requests.
	return retry(ctx, 2*config.Timeout, func(ctx context.Context) (*Store, error) { return open(ctx, js, config) })
}

// enabled adds to an error that no server answers requests about streams that
// JetStream is not enabled. No server answers for a single stream while it is
// moved or created.
func enabled(err error) error {
	if errors.Is(err, nats.ErrNoResponders) {
		return fmt.Errorf("%w: %w", jetstream.ErrJetStreamNotEnabled, err)
	}
	return err
}

func open(ctx context.Context, js jetstream.JetStream, config Config) (*Store, error) {
	keeper, err := openWatermarkStore(ctx, js, config)
	if err != nil {
		return nil, err
	}
	mark, err := keeper.load(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the watermark %s: %w", keeper, err)
	}
	s := &Store{js: js, config: config, send: js.Conn().RequestMsgWithContext}
	s.append = func(ctx context.Context, e pendingAppend) (uint64, error) { return e.alone(ctx) }
	if config.Sync == 0 {
		s.append = (&groupCommit{batch: s.publishBatch}).append
	}
	s.stream, err = js.Stream(ctx, subject.EventStream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		if mark != (watermark{}) {
			return nil, fmt.Errorf("%w: stream %s is gone, want %s (%s)", eventstore.ErrCorrupt, subject.EventStream, mark, keeper)
		}
		s.stream, err = create(ctx, js, config)
	}
	if err != nil {
		return nil, fmt.Errorf("open stream %s: %w", subject.EventStream, enabled(err))
	}
	if err := checkStreamConfig(s.stream.CachedInfo().Config); err != nil {
		return nil, err
	}
	s.replicated = s.stream.CachedInfo().Config.Replicas > 1
	if mark == (watermark{}) {
		mark = markOf(s.stream.CachedInfo())
	}
	s.tracker = newWatermarkTracker(keeper, mark)
	last, err := s.checkLog(ctx, 0)
	if err != nil {
		return nil, err
	}
	s.tracker.raise(last)
	if err := s.tracker.save(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// create creates the stream, unless another process just did.
func create(ctx context.Context, js jetstream.JetStream, config Config) (jetstream.Stream, error) {
	metadata := attributes(config.Source)
	metadata[identity] = rand.Text()
	stream, err := js.CreateStream(ctx, logConfig(config.Replicas, metadata))
	if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
		stream, err = js.Stream(ctx, subject.EventStream)
	}
	if errors.Is(err, jetstream.ErrStreamNotFound) { // a cluster knows the name before the servers have the stream
		return nil, fmt.Errorf("%w: %v", errInMaking, err)
	}
	return stream, err
}

// logConfig returns the configuration of the stream that holds the log.
func logConfig(replicas int, metadata map[string]string) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name:               subject.EventStream,
		Description:        "The log of Signalbox: every decision, in order, for ever.",
		Subjects:           []string{subject.Events},
		Retention:          jetstream.LimitsPolicy,
		Storage:            jetstream.FileStorage,
		Compression:        compression(replicas),
		Replicas:           max(replicas, 1),
		Duplicates:         2 * time.Minute,
		DenyDelete:         true,
		DenyPurge:          true,
		AllowAtomicPublish: true,
		Metadata:           metadata,
	}
}
