package app

import (
	"slices"
	"sync"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

const (
	maxPast    = 10_000 // commits before the console's start that its moves are counted from
	maxStays   = 65     // newest stays that the usual one is found among
	maxEntered = 50_000 // instances whose entry is kept
)

// flow counts the moves of all instances since it began, with the time that they stayed before. It
// is safe for concurrent use.
type flow struct {
	mu      sync.Mutex
	seq     uint64 // counted up to here
	since   time.Time
	entered map[string]time.Time
	moves   map[string]map[[2]string]*moved // by lifecycle, then from and to
}

// moved is how often a move was made.
type moved struct {
	Times int
	stays []time.Duration // the newest, before the move
}

// Stay returns the median of the newest stays before the move; 0 if none is known.
func (m *moved) Stay() time.Duration { return median(m.stays) }

func newFlow() *flow {
	return &flow{entered: map[string]time.Time{}, moves: map[string]map[[2]string]*moved{}}
}

// add counts the moves of a commit, once.
func (f *flow) add(workflow string, e client.LogEntry) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if e.Commit.Seq <= f.seq {
		return
	}
	if f.seq = e.Commit.Seq; f.since.IsZero() {
		f.since = e.At
	}
	for _, event := range e.Events {
		switch event := event.(type) {
		case instance.Opened:
			bound(f.entered, maxEntered)
			f.entered[e.Instance] = e.At
		case instance.Moved:
			of := f.moves[workflow]
			if of == nil {
				of = map[[2]string]*moved{}
				f.moves[workflow] = of
			}
			key := [2]string{event.From, event.To}
			if of[key] == nil {
				of[key] = &moved{}
			}
			m := of[key]
			m.Times++
			if entered, ok := f.entered[e.Instance]; ok {
				m.stays = append(m.stays[max(0, len(m.stays)-maxStays+1):], e.At.Sub(entered))
			}
			bound(f.entered, maxEntered)
			f.entered[e.Instance] = e.At
		}
	}
}

// of returns the moves of a lifecycle, and since when they are counted; zero: none is known.
func (f *flow) of(workflow string) (moves map[[2]string]moved, since time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	moves = map[[2]string]moved{}
	for key, m := range f.moves[workflow] {
		moves[key] = moved{m.Times, slices.Clone(m.stays)}
	}
	return moves, f.since
}

// median returns the middle of durations; 0 for none.
func median(all []time.Duration) time.Duration {
	if len(all) == 0 {
		return 0
	}
	all = slices.Sorted(slices.Values(all))
	return all[len(all)/2]
}
