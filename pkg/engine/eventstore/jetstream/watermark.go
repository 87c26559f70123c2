package jetstream

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
)

// saveEvery is how far the saved watermark may lag behind the log. A crash loses
// at most that much of the watermark, never of the log.
const saveEvery = time.Second

// watermark is what is known of the log outside of it.
type watermark struct {
	Identity string    `json:"identity"`
	Created  time.Time `json:"created"`
	Seq      uint64    `json:"seq"` // the log reached at least this far
}

func markOf(info *jetstream.StreamInfo) watermark {
	return watermark{info.Config.Metadata[identity], info.Created.UTC(), info.State.LastSeq}
}

func (w watermark) String() string {
	return fmt.Sprintf("identity %s, created %s, at least %d commits", w.Identity, w.Created.Format(time.RFC3339), w.Seq)
}

// check returns ErrCorrupt unless the log that is there is the one that w was
// taken of, and has at least as many commits.
func (w watermark) check(there watermark) error {
	what := ""
	switch {
	case there.Identity != w.Identity:
		what = "another log"
	case there.Created.After(w.Created):
		what = "a recreated log"
	case there.Seq < w.Seq:
		what = "a log cut short"
	default:
		return nil
	}
	return fmt.Errorf("%w: %s is there: identity %s, created %s, %d commits; want %s; restore it, or remove the watermark to accept the loss",
		eventstore.ErrCorrupt, what, there.Identity, there.Created.Format(time.RFC3339), there.Seq, w)
}

// watermarkStore keeps a watermark between runs.
type watermarkStore interface {
	fmt.Stringer
	// load returns the zero watermark if none was ever saved.
	load(context.Context) (watermark, error)
	save(context.Context, watermark) error
}

func openWatermarkStore(ctx context.Context, js jetstream.JetStream, c Config) (watermarkStore, error) {
	if c.Watermark != "" {
		return fileWatermark(c.Watermark), nil
	}
	return openBucketWatermark(ctx, js, c)
}

// watermarkTracker raises the watermark as the log grows, and saves it a second
// after it was raised. It is safe for concurrent use.
type watermarkTracker struct {
	store   watermarkStore
	initial watermark // with the sequence at the start
	seq     atomic.Uint64
	pending atomic.Bool // a save is scheduled
	closed  atomic.Bool // no save is scheduled any more

	mu sync.Mutex // serializes saves
}

func newWatermarkTracker(k watermarkStore, start watermark) *watermarkTracker {
	t := &watermarkTracker{store: k, initial: start}
	t.seq.Store(start.Seq)
	return t
}

func (t *watermarkTracker) current() watermark {
	w := t.initial
	w.Seq = t.seq.Load()
	return w
}

// raise reports whether the watermark was lower.
func (t *watermarkTracker) raise(seq uint64) bool {
	for {
		was := t.seq.Load()
		if seq <= was {
			return false
		}
		if t.seq.CompareAndSwap(was, seq) {
			return true
		}
	}
}

// advance raises the watermark and schedules a save, so that no append waits for
// it. A save that fails is no failure of the append or of the reader: the next one
// repeats it, and Close reports it.
func (t *watermarkTracker) advance(seq uint64) {
	if t.raise(seq) && !t.pending.Load() && t.pending.CompareAndSwap(false, true) {
		time.AfterFunc(saveEvery, func() {
			t.pending.Store(false)
			if !t.closed.Load() {
				_ = t.save(context.Background())
			}
		})
	}
}

func (t *watermarkTracker) save(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, saveEvery)
	defer cancel()
	if err := t.store.save(ctx, t.current()); err != nil {
		return fmt.Errorf("keep the watermark %s: %w", t.store, err)
	}
	return nil
}

// Known returns the highest sequence that this process has read, appended, or
// received by Know.
func (s *Store) Known() uint64 { return s.tracker.current().Seq }

// Know raises the watermark to the sequence of a commit that another process has
// seen in the log.
func (s *Store) Know(seq uint64) { s.tracker.advance(seq) }
