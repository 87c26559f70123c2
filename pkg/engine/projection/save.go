package projection

import (
	"context"
	"slices"
	"sync"

	"github.com/signalbox/signalbox/pkg/engine/projection/snapshot"
)

// Due has a value when it is time for Snapshot.
func (p *Projection) Due() <-chan struct{} { return p.schedule.due }

// Snapshot saves the state of all instances, unless another process just did, or
// Complete has not returned yet. Commands are handled meanwhile. last says that no
// other snapshot comes after: then it is saved however little is new. Call it from one
// goroutine, and only of a Projection that has Config.Snapshots.
func (p *Projection) Snapshot(ctx context.Context, last bool) error {
	seq, _ := p.position.read()
	if p.missing.any() {
		return nil
	}
	news := uint64(1)
	if !last {
		news = max(1, p.snapshots.Every/2)
	}
	p.schedule.restart(seq) // the next one is due as much later, whether this one succeeds or not
	base, err := p.snapshots.Base(ctx)
	if err != nil {
		return err
	}
	if seq < base.Seq+news {
		p.markSaved(base.Seq)
		return nil
	}
	c := p.capture(base.Seq)
	saved, err := p.snapshots.Save(ctx, base, c)
	if saved {
		p.markSaved(c.Seq)
	}
	return err
}

// markSaved says that a snapshot has all up to a sequence.
func (p *Projection) markSaved(seq uint64) {
	p.schedule.saved(seq)
	p.states.markSaved(seq)
}

// capture returns the state of all instances for a snapshot that is built on the one at
// since. Live ones are read first: an instance that closes meanwhile is in both, or
// closed only.
func (p *Projection) capture(since uint64) snapshot.Capture {
	type live struct {
		*State
		claims []uint64
	}
	type closed struct {
		*closedSummary
		claims []uint64
	}
	var lives []live
	var closes []closed
	seq, chain := p.position.read()
	through := seq
	for s := range p.states.eachLive() {
		lives, through = append(lives, live{s, p.claims.of(s.Instance.ID)}), max(through, s.Instance.Seq)
	}
	candidates := slices.Values(p.states.unsavedClosed())
	if since == 0 {
		candidates = p.states.eachClosed()
	}
	for s := range candidates {
		if s.seq > since {
			closes, through = append(closes, closed{s, p.claims.of(s.id)}), max(through, s.seq)
		}
	}
	return snapshot.Capture{
		Seq: seq, Through: through, Chain: chain,
		Live: func(yield func(snapshot.Live) bool) {
			for _, s := range lives {
				if !yield(s.record(s.claims)) {
					return
				}
			}
		},
		Closed: func(yield func(snapshot.Closed) bool) {
			for _, s := range closes {
				if !yield(snapshot.Closed{Instance: s.instance(), Head: s.head, Claims: s.claims, Shared: s.shared}) {
					return
				}
			}
		},
	}
}

// schedule decides when the next snapshot is due. It is safe for concurrent use.
type schedule struct {
	due   chan struct{}
	every uint64 // commits between two; 0: none is ever due

	mu   sync.Mutex
	from uint64 // sequence from which commits are counted
}

func newSchedule() schedule { return schedule{due: make(chan struct{}, 1)} }

// restart counts commits from seq on.
func (s *schedule) restart(seq uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.from = seq
}

// saved counts commits from seq on, unless it counts from a later one.
func (s *schedule) saved(seq uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.from = max(s.from, seq)
}

// reached says that the log was followed up to seq, with so many live instances.
func (s *schedule) reached(seq uint64, live func() int) {
	if s.every == 0 {
		return
	}
	s.mu.Lock()
	from := s.from
	s.mu.Unlock()
	if seq < from+s.every || seq < from+4*uint64(live()) {
		return
	}
	select {
	case s.due <- struct{}{}:
	default:
	}
}
