package jetstream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/eventstore"
	"github.com/signalbox/signalbox/pkg/subject"
)

// ErrNoLog is a server without a log, of which no watermark knows one either.
var ErrNoLog = errors.New("there is no log")

// Identity is the key of a stream's metadata that says which log it is.
const Identity = identity

// Survey is what is there of a log, whole or not. Make one with Look. It makes
// nothing, changes nothing and raises no watermark.
type Survey struct {
	Stream   string    // its name
	Gone     bool      // the stream is not there, and the watermark knows one
	Identity string    // empty: it is not a log, or a mirror of one
	Created  time.Time // of the stream
	First    uint64    // sequences that the server says there are; it may be wrong
	Last     uint64
	Messages uint64
	Want     uint64 // the log reached at least this far, by its watermark; 0: nothing is known
	Keeper   string // where the watermark is; empty: there is none
	Fault    error  // why it is not the log that the watermark means; nil: it is, though it may be shorter

	stream jetstream.Stream // nil: there is none
	want   watermark
	mirror bool
	bytes  uint64
}

// Look looks at the stream of that name, the log's if it is empty. Only c's
// Watermark and Timeout are heeded. ErrNoLog: neither a stream nor a watermark.
func Look(ctx context.Context, js jetstream.JetStream, name string, c Config) (*Survey, error) {
	s := &Survey{Stream: name}
	if s.Stream == "" {
		s.Stream = subject.EventStream
	}
	if c.Timeout == 0 {
		c.Timeout = 5 * time.Second
	}
	_, err := retry(ctx, c.Timeout, func(ctx context.Context) (struct{}, error) { return struct{}{}, s.look(ctx, js, c) })
	return s, err
}

func (s *Survey) look(ctx context.Context, js jetstream.JetStream, c Config) error {
	want, err := s.watermark(ctx, js, c)
	if err != nil {
		return err
	}
	s.want = want
	stream, err := js.Stream(ctx, s.Stream)
	switch {
	case errors.Is(err, jetstream.ErrStreamNotFound) && want == (watermark{}):
		return fmt.Errorf("%w: no stream %s", ErrNoLog, s.Stream)
	case errors.Is(err, jetstream.ErrStreamNotFound):
		s.Gone, s.Fault = true, fmt.Errorf("%w: stream %s is gone, want %s (%s)", eventstore.ErrCorrupt, s.Stream, want, s.Keeper)
		return nil
	case err != nil:
		return fmt.Errorf("look at stream %s: %w", s.Stream, enabled(err))
	}
	s.stream = stream
	info := s.stream.CachedInfo()
	there := markOf(info)
	s.Identity, s.Created = there.Identity, there.Created
	s.First, s.Last, s.Messages = info.State.FirstSeq, info.State.LastSeq, info.State.Msgs
	s.bytes = info.State.Bytes
	if s.mirror = info.Config.Mirror != nil; s.mirror { // it has a beginning of its own, and may lag behind
		want.Identity, want.Created, want.Seq = there.Identity, there.Created, min(want.Seq, there.Seq)
		s.Want = want.Seq
	}
	if want != (watermark{}) {
		there.Seq = max(there.Seq, want.Seq)
		if s.Fault = want.check(there); s.Fault != nil {
			s.Fault = fmt.Errorf("%w (%s)", s.Fault, s.Keeper)
		}
	}
	return nil
}

// watermark is what is known of the log: in the file that c names, or else in
// the bucket. Neither is made.
func (s *Survey) watermark(ctx context.Context, js jetstream.JetStream, c Config) (watermark, error) {
	var k keeper = fileKeeper(c.Watermark)
	if c.Watermark == "" {
		kv, err := js.KeyValue(ctx, WatermarkBucket)
		if errors.Is(err, jetstream.ErrBucketNotFound) {
			return watermark{}, nil
		}
		if err != nil {
			return watermark{}, fmt.Errorf("open bucket %s: %w", WatermarkBucket, enabled(err))
		}
		k = bucketKeeper{kv}
	}
	want, err := k.load(ctx)
	if err != nil {
		return want, fmt.Errorf("read the watermark %s: %w", k, err)
	}
	if want != (watermark{}) {
		s.Want, s.Keeper = want.Seq, k.String()
	}
	return want, nil
}

// Metadata is that of the stream.
func (s *Survey) Metadata() map[string]string { return s.stream.CachedInfo().Config.Metadata }

// Queue is a durable consumer of the log: of a role, or of those who hear of ends.
type Queue struct {
	Role    string   `json:"role"`
	Filters []string `json:"filters"`
	Done    uint64   `json:"done"` // everything up to this sequence is done with
}

// Queues lists the durable consumers.
func (s *Survey) Queues(ctx context.Context) ([]Queue, error) {
	var all []Queue
	list := s.stream.ListConsumers(ctx)
	for info := range list.Info() {
		if c := info.Config; c.Durable != "" && len(c.FilterSubjects) > 0 {
			all = append(all, Queue{c.Durable, c.FilterSubjects, info.AckFloor.Stream})
		}
	}
	slices.SortFunc(all, func(a, b Queue) int { return strings.Compare(a.Role, b.Role) })
	return all, list.Err()
}

// Counts says how many commits the server believes each instance has. Its index
// of subjects may remember what it can no longer read.
func (s *Survey) Counts(ctx context.Context) (map[string]int, error) {
	if s.Gone {
		return nil, nil
	}
	info, err := s.stream.Info(ctx, jetstream.WithSubjectFilter(">"))
	if err != nil {
		return nil, fmt.Errorf("look at the subjects of stream %s: %w", s.Stream, err)
	}
	counts := map[string]int{}
	for subj, n := range info.State.Subjects {
		if e, err := subject.ParseEvent(subj); err == nil {
			counts[e.Instance] += int(n)
		}
	}
	return counts, nil
}
