package jetstream

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/eventstore"
	"github.com/signalbox/signalbox/pkg/subject"
)

// identity is the stream's metadata key for the random id it got when it was made.
const identity = "signalbox-identity"

// Open returns the log, and makes it at the first run. That it is the first run
// and not the first after a loss is told by the watermark: a log that is gone,
// empty, another, younger or shorter than the watermark says is ErrCorrupt, as
// is one with a hole. A cluster that is choosing its leader is waited for until
// ctx ends.
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

// enabled names the reason why nobody answers a question about streams: there
// is no JetStream. A stream of which nobody answers is being moved or made.
func enabled(err error) error {
	if errors.Is(err, nats.ErrNoResponders) {
		return fmt.Errorf("%w: %w", jetstream.ErrJetStreamNotEnabled, err)
	}
	return err
}

func open(ctx context.Context, js jetstream.JetStream, config Config) (*Store, error) {
	keeper, err := openKeeper(ctx, js, config)
	if err != nil {
		return nil, err
	}
	mark, err := keeper.load(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the watermark %s: %w", keeper, err)
	}
	s := &Store{js: js, config: config, send: js.Conn().RequestMsgWithContext}
	s.append = func(ctx context.Context, e entry) (uint64, error) { return e.alone(ctx) }
	if config.Sync == 0 {
		s.append = (&group{batch: s.publishBatch}).append
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
	if err := fit(s.stream.CachedInfo().Config); err != nil {
		return nil, err
	}
	s.replicated = s.stream.CachedInfo().Config.Replicas > 1
	if mark == (watermark{}) {
		mark = markOf(s.stream.CachedInfo())
	}
	s.mark = newMarker(keeper, mark)
	last, err := s.examine(ctx, 0)
	if err != nil {
		return nil, err
	}
	s.mark.raise(last)
	if err := s.mark.save(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// create makes the stream, unless another process just did.
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

// logConfig is the stream that holds the log.
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

// fit says why a stream with configuration c cannot hold the log: it might
// forget a commit or give a stale answer.
func fit(c jetstream.StreamConfig) error {
	for _, rule := range []struct {
		want string
		ok   bool
	}{
		{"metadata " + identity, c.Metadata[identity] != ""},
		{"a restore that has ended: run it again", c.Metadata[restoring] == ""},
		{"subjects [" + subject.Events + "]", slices.Equal(c.Subjects, []string{subject.Events})},
		{"limits retention", c.Retention == jetstream.LimitsPolicy},
		{"file storage", c.Storage == jetstream.FileStorage},
		{"deny_delete", c.DenyDelete},
		{"deny_purge", c.DenyPurge},
		{"no limit of messages", c.MaxMsgs <= 0 && c.MaxMsgsPerSubject <= 0},
		{"no limit of bytes", c.MaxBytes <= 0},
		{"no limit of age", c.MaxAge == 0 && !c.AllowMsgTTL},
		{"no rollup", !c.AllowRollup},
		{"no direct gets", !c.AllowDirect},
	} {
		if !rule.ok {
			return fmt.Errorf("stream %s cannot hold the log: want %s", subject.EventStream, rule.want)
		}
	}
	return nil
}

// inspect checks that the stream is the one the watermark means and whole, and
// returns its last sequence.
func (s *Store) inspect(ctx context.Context) (uint64, error) {
	want := s.mark.current() // first: the log grows while it is looked at
	info, err := s.stream.Info(ctx, jetstream.WithDeletedDetails(true))
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return 0, fmt.Errorf("%w: stream %s is gone, want %s (%s)", eventstore.ErrCorrupt, subject.EventStream, want, s.mark.keeper)
	}
	if err != nil {
		return 0, fmt.Errorf("look at stream %s: %w", subject.EventStream, err)
	}
	if err := whole(info.State); err != nil {
		return 0, err
	}
	if err := want.check(markOf(info)); err != nil {
		return 0, fmt.Errorf("%w (%s)", err, s.mark.keeper)
	}
	last := info.State.LastSeq
	if last > 0 {
		// The state may count a message that cannot be read. One within the log
		// shows as a gap when it is read; the last one shows only here.
		_, err = s.get(ctx, last)
	}
	return last, err
}

func whole(s jetstream.StreamState) error {
	if s.LastSeq == 0 || s.FirstSeq == 1 && s.Msgs == s.LastSeq {
		return nil
	}
	missing := ""
	if len(s.Deleted) > 0 {
		missing = fmt.Sprintf("; missing %d", s.Deleted[:min(len(s.Deleted), 10)])
	}
	return fmt.Errorf("%w: stream %s has %d commits, sequences %d to %d, want %d from 1%s",
		eventstore.ErrCorrupt, subject.EventStream, s.Msgs, s.FirstSeq, s.LastSeq, s.LastSeq, missing)
}
