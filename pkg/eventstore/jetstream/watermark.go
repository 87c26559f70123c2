package jetstream

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/eventstore"
)

// saveEvery is how far the kept watermark may lag behind the log. A crash
// loses at most that much of its knowledge, never of the log.
const saveEvery = time.Second

// watermark is what is known of the log outside the log.
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

// check says why the log that is there is not the one w was taken of.
func (w watermark) check(there watermark) error {
	what := ""
	switch {
	case there.Identity != w.Identity:
		what = "another log"
	case there.Created.After(w.Created):
		what = "a log made anew"
	case there.Seq < w.Seq:
		what = "a log cut short"
	default:
		return nil
	}
	return fmt.Errorf("%w: %s is there: identity %s, created %s, %d commits; want %s; restore it, or remove the watermark to accept the loss",
		eventstore.ErrCorrupt, what, there.Identity, there.Created.Format(time.RFC3339), there.Seq, w)
}

// keeper keeps a watermark between runs.
type keeper interface {
	fmt.Stringer
	// load returns the zero watermark if none was ever saved.
	load(context.Context) (watermark, error)
	save(context.Context, watermark) error
}

func openKeeper(ctx context.Context, js jetstream.JetStream, c Config) (keeper, error) {
	if c.Watermark != "" {
		return fileKeeper(c.Watermark), nil
	}
	return openBucketKeeper(ctx, js, c)
}

// marker raises the watermark as the log grows, and saves it a second after it
// was raised.
type marker struct {
	keeper  keeper
	of      watermark // Seq as it was at the start
	seq     atomic.Uint64
	pending atomic.Bool // a save is due within a second
	closed  atomic.Bool // no more is

	mu sync.Mutex // held while the keeper saves
}

func newMarker(k keeper, start watermark) *marker {
	m := &marker{keeper: k, of: start}
	m.seq.Store(start.Seq)
	return m
}

func (m *marker) current() watermark {
	w := m.of
	w.Seq = m.seq.Load()
	return w
}

// raise reports whether the mark was lower.
func (m *marker) raise(seq uint64) bool {
	for {
		was := m.seq.Load()
		if seq <= was {
			return false
		}
		if m.seq.CompareAndSwap(was, seq) {
			return true
		}
	}
}

// reached raises the watermark and sees to it that it is saved: not here, for an
// append would wait for it. A save that fails is not the append's or the
// reader's failure: the next one repeats it, and Close reports it.
func (m *marker) reached(seq uint64) {
	if m.raise(seq) && !m.pending.Load() && m.pending.CompareAndSwap(false, true) {
		time.AfterFunc(saveEvery, func() {
			m.pending.Store(false)
			if !m.closed.Load() {
				_ = m.save(context.Background())
			}
		})
	}
}

func (m *marker) save(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, saveEvery)
	defer cancel()
	if err := m.keeper.save(ctx, m.current()); err != nil {
		return fmt.Errorf("keep the watermark %s: %w", m.keeper, err)
	}
	return nil
}

// Known is the newest commit that this process knows to be in the log.
func (s *Store) Known() uint64 { return s.mark.current().Seq }

// Know raises the watermark to what another process knows of the log, which did
// not come to this one.
func (s *Store) Know(seq uint64) { s.mark.reached(seq) }
