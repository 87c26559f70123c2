package jetstream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/subject"
)

// ErrNoLog means that the server has no log, and that there is no watermark of one.
var ErrNoLog = errors.New("there is no log")

// Identity is the key of the stream's metadata that identifies the log.
const Identity = identity

// AuditReader reads a log, damaged or not. It creates nothing, changes nothing and
// raises no watermark. Make one with OpenAuditReader. It is not safe for
// concurrent use.
type AuditReader struct {
	Stream        string    // its name
	Missing       bool      // there is no stream, and the watermark is of one
	Identity      string    // empty if it is no log, or a mirror of one
	Created       time.Time // of the stream
	First         uint64    // oldest sequence, as the server reports it; it may be wrong
	Last          uint64    // newest sequence, likewise
	Messages      uint64    // likewise
	Expected      uint64    // sequence of the watermark; 0: there is none
	WatermarkName string    // where the watermark is; empty: there is none
	Fault         error     // why it is not the log of the watermark; nil: it is, though it may be shorter
	// Patience is how long Read goes on while nothing is delivered. OpenAuditReader sets a minute.
	Patience time.Duration

	stream      jetstream.Stream // nil: there is none
	watermarked watermark
	mirror      bool
	bytes       uint64
}

// OpenAuditReader opens the stream of that name, or the log's if the name is empty.
// Of c it uses Watermark and Timeout only.
func OpenAuditReader(ctx context.Context, js jetstream.JetStream, name string, c Config) (*AuditReader, error) {
	r := &AuditReader{Stream: name, Patience: time.Minute}
	if r.Stream == "" {
		r.Stream = subject.EventStream
	}
	if c.Timeout == 0 {
		c.Timeout = 5 * time.Second
	}
	_, err := retry(ctx, c.Timeout, func(ctx context.Context) (struct{}, error) { return struct{}{}, r.open(ctx, js, c) })
	return r, err
}

func (r *AuditReader) open(ctx context.Context, js jetstream.JetStream, c Config) error {
	want, err := r.watermark(ctx, js, c)
	if err != nil {
		return err
	}
	r.watermarked = want
	stream, err := js.Stream(ctx, r.Stream)
	switch {
	case errors.Is(err, jetstream.ErrStreamNotFound) && want == (watermark{}):
		return fmt.Errorf("%w: no stream %s", ErrNoLog, r.Stream)
	case errors.Is(err, jetstream.ErrStreamNotFound):
		r.Missing, r.Fault = true, fmt.Errorf("%w: stream %s is gone, want %s (%s)", eventstore.ErrCorrupt, r.Stream, want, r.WatermarkName)
		return nil
	case err != nil:
		return fmt.Errorf("look at stream %s: %w", r.Stream, enabled(err))
	}
	r.stream = stream
	info := r.stream.CachedInfo()
	there := markOf(info)
	r.Identity, r.Created = there.Identity, there.Created
	r.First, r.Last, r.Messages = info.State.FirstSeq, info.State.LastSeq, info.State.Msgs
	r.bytes = info.State.Bytes
	if r.mirror = info.Config.Mirror != nil; r.mirror { // a mirror has a creation time of its own, and may lag behind
		want.Identity, want.Created, want.Seq = there.Identity, there.Created, min(want.Seq, there.Seq)
		r.Expected = want.Seq
	}
	if want != (watermark{}) {
		there.Seq = max(there.Seq, want.Seq)
		if r.Fault = want.check(there); r.Fault != nil {
			r.Fault = fmt.Errorf("%w (%s)", r.Fault, r.WatermarkName)
		}
	}
	return nil
}

// watermark loads the watermark from the file that c names, or else from the
// bucket. It creates neither.
func (r *AuditReader) watermark(ctx context.Context, js jetstream.JetStream, c Config) (watermark, error) {
	var k watermarkStore = fileWatermark(c.Watermark)
	if c.Watermark == "" {
		kv, err := js.KeyValue(ctx, WatermarkBucket)
		if errors.Is(err, jetstream.ErrBucketNotFound) {
			return watermark{}, nil
		}
		if err != nil {
			return watermark{}, fmt.Errorf("open bucket %s: %w", WatermarkBucket, enabled(err))
		}
		k = bucketWatermark{kv}
	}
	want, err := k.load(ctx)
	if err != nil {
		return want, fmt.Errorf("read the watermark %s: %w", k, err)
	}
	if want != (watermark{}) {
		r.Expected, r.WatermarkName = want.Seq, k.String()
	}
	return want, nil
}

// Metadata returns the stream's metadata.
func (r *AuditReader) Metadata() map[string]string { return r.stream.CachedInfo().Config.Metadata }

// Queue is a durable consumer of the log: a role's, or that of a service which
// acts when instances end.
type Queue struct {
	Role    string   `json:"role"`
	Filters []string `json:"filters"`
	Done    uint64   `json:"done"` // everything up to this sequence is acknowledged
}

// Queues lists the durable consumers.
func (r *AuditReader) Queues(ctx context.Context) ([]Queue, error) {
	var all []Queue
	list := r.stream.ListConsumers(ctx)
	for info := range list.Info() {
		if c := info.Config; c.Durable != "" && len(c.FilterSubjects) > 0 {
			all = append(all, Queue{c.Durable, c.FilterSubjects, info.AckFloor.Stream})
		}
	}
	slices.SortFunc(all, func(a, b Queue) int { return strings.Compare(a.Role, b.Role) })
	return all, list.Err()
}

// Counts returns the number of commits of each instance by the server's index of
// subjects, which may have commits that cannot be read any more.
func (r *AuditReader) Counts(ctx context.Context) (map[string]int, error) {
	if r.Missing {
		return nil, nil
	}
	info, err := r.stream.Info(ctx, jetstream.WithSubjectFilter(">"))
	if err != nil {
		return nil, fmt.Errorf("look at the subjects of stream %s: %w", r.Stream, err)
	}
	counts := map[string]int{}
	for subj, n := range info.State.Subjects {
		if e, err := subject.ParseEvent(subj); err == nil {
			counts[e.Instance] += int(n)
		}
	}
	return counts, nil
}

// Message is one stored message as it is.
type Message struct {
	Seq     uint64
	Stored  time.Time // by the server
	Subject string
	Header  nats.Header
	Data    []byte
}

// Commit decodes the message. ErrCorrupt means that it is a commit that was damaged. A
// foreign message is set aside: Commit.Foreign.
func (m Message) Commit() (eventstore.Commit, error) {
	c, err := decode(m.Subject, m.Header, m.Data, m.Seq)
	if c.Foreign != nil {
		c.Foreign.Stored = m.Stored
	}
	return c, err
}

// idle is how long nothing may come before the reader seeks the next message: a
// server skips what it cannot read without an error.
const idle = time.Second

// Read calls f for each message from sequence from on that the stream had when it
// was opened, in order. It skips what is missing, and ends with f's error. The
// messages of a mirror are as those of the log.
func (r *AuditReader) Read(ctx context.Context, from uint64, f func(Message) error) error {
	if r.mirror {
		return r.readAll(ctx, 1, mirrored(from, f))
	}
	return r.readAll(ctx, from, f)
}

// mirrored restores the headers that a mirror removes: the sequence of the
// instance's commit before. If it was another, the chain does not fit. Where the
// append expected a foreign message, any sequence before the commit will do.
func mirrored(from uint64, f func(Message) error) func(Message) error {
	newest := map[string]uint64{}
	return func(m Message) error {
		e, err := subject.ParseEvent(m.Subject)
		if err == nil && !foreign(m.Header) {
			filter, _ := subject.Instance(e.Instance) // it was parsed before
			expected := newest[e.Instance]
			if m.Header.Get(HeaderPrev) != "" {
				expected = m.Seq - 1
			}
			m.Header.Set(jetstream.ExpectedStreamHeader, subject.EventStream)
			m.Header.Set(jetstream.ExpectedLastSubjSeqSubjHeader, filter)
			m.Header.Set(jetstream.ExpectedLastSubjSeqHeader, strconv.FormatUint(expected, 10))
			newest[e.Instance] = m.Seq
		}
		if m.Seq < from {
			return nil
		}
		return f(m)
	}
}

// ErrStalled means that a server answers, and delivers nothing of the stream.
var ErrStalled = errors.New("nothing is delivered")

func (r *AuditReader) readAll(ctx context.Context, from uint64, f func(Message) error) error {
	since := time.Now()
	for next := max(from, 1); !r.Missing && next <= r.Last; {
		found, err := r.seekReadable(ctx, next)
		if err != nil || found == 0 {
			return err
		}
		if next, err = r.readWithConsumer(ctx, found, f); err != nil && !errors.Is(err, errLost) {
			return err
		}
		if next > found {
			since = time.Now()
		} else if err != nil && time.Since(since) > r.Patience {
			return fmt.Errorf("read stream %s: %w from %d on for %v: does the account of this connection receive from consumers? (%w)",
				r.Stream, ErrStalled, found, r.Patience, err)
		}
	}
	return ctx.Err()
}

// seek returns the first sequence from next on that the server finds; 0 if there is none.
func (r *AuditReader) seek(ctx context.Context, next uint64) (uint64, error) {
	return retry(ctx, 10*idle, func(ctx context.Context) (uint64, error) { return r.seekOnce(ctx, next) })
}

func (r *AuditReader) seekOnce(ctx context.Context, next uint64) (uint64, error) {
	m, err := r.stream.GetMsg(ctx, next, jetstream.WithGetMsgSubject(">"))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read stream %s from %d: %w", r.Stream, next, err)
	}
	return m.Sequence, nil
}

// blockBytes is the size of one file of a stream.
const blockBytes = 8 << 20

// seekReadable returns the first sequence from next on that can be read; 0 if there
// is none. A server that cannot read the block where it begins to search finds
// nothing in later blocks either. So it is asked further on, in steps that are
// short compared with a block, since each costs the reading of one.
func (r *AuditReader) seekReadable(ctx context.Context, next uint64) (uint64, error) {
	found, err := r.seek(ctx, next)
	if err != nil || found > 0 {
		return found, err
	}
	each := max(r.bytes/max(r.Messages, 1), 1)
	most := max(blockBytes/each/16, 1)
	bad, step := next, uint64(1)
	for found == 0 {
		if bad == r.Last {
			return 0, nil
		}
		at := min(bad+step, r.Last)
		if found, err = r.seek(ctx, at); err != nil {
			return 0, err
		}
		if found == 0 {
			bad, step = at, min(2*step, most)
		}
	}
	for good := found; bad+1 < good; { // there may be a readable one between
		at := bad + (good-bad)/2
		earlier, err := r.seek(ctx, at)
		switch {
		case err != nil:
			return 0, err
		case earlier == 0:
			bad = at
		default:
			found, good = earlier, at
		}
	}
	return found, nil
}

// readWithConsumer reads with one consumer, until the end or until the consumer is
// of no use any more, and returns the sequence to continue at.
func (r *AuditReader) readWithConsumer(ctx context.Context, next uint64, f func(Message) error) (uint64, error) {
	consumer, err := r.stream.CreateConsumer(ctx, jetstream.ConsumerConfig{
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: next,
		AckPolicy: jetstream.AckNonePolicy, MemoryStorage: true, Replicas: 1, InactiveThreshold: 3 * expiry,
	})
	if err != nil {
		return next, fmt.Errorf("read stream %s: %w", r.Stream, err)
	}
	messages, err := consumer.Messages(jetstream.PullMaxMessagesWithBytesLimit(readAhead, readBytes), jetstream.PullExpiry(expiry))
	if err != nil {
		return next, fmt.Errorf("read stream %s: %w", r.Stream, err)
	}
	defer messages.Stop()
	defer context.AfterFunc(ctx, messages.Stop)()
	for delivered := uint64(1); next <= r.Last; delivered++ {
		m, err := messages.Next(jetstream.NextMaxWait(idle))
		if ctx.Err() != nil {
			return next, ctx.Err()
		}
		if err != nil {
			return next, fmt.Errorf("%w: %w", errLost, err)
		}
		at, err := m.Metadata()
		if err != nil {
			return next, fmt.Errorf("read stream %s at %d: %w", r.Stream, next, err)
		}
		if at.Sequence.Consumer != delivered {
			return next, fmt.Errorf("%w: a delivery went missing", errLost)
		}
		if at.Sequence.Stream > r.Last {
			return at.Sequence.Stream, nil
		}
		if err := f(Message{at.Sequence.Stream, at.Timestamp, m.Subject(), m.Headers(), m.Data()}); err != nil {
			return next, err
		}
		next = at.Sequence.Stream + 1
	}
	return next, nil
}
