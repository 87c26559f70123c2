package e2e

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// supervisor keeps the parts of a system running: what ends is started again.
type supervisor struct {
	seats []*seat
	down  chan struct{} // closed when nothing is started any more
	wg    sync.WaitGroup
}

// seat is one part's place.
type seat struct {
	name  string
	start func() *process
	kills atomic.Int64

	mu  sync.Mutex
	now *process
}

// supervise takes over the parts of a running system until stop.
func supervise(t *testing.T, s *system, r *rand.Rand) *supervisor {
	t.Helper()
	v := &supervisor{down: make(chan struct{})}
	v.watch(&seat{name: natsName, now: s.parts[natsName], start: func() *process { return s.nats.start(t) }}, r.Uint64())
	for _, name := range s.names() {
		v.watch(&seat{name: name, now: s.parts[name], start: func() *process { return s.run(t, name) }}, r.Uint64())
	}
	return v
}

// stop returns when everything runs and nothing will be started again.
func (v *supervisor) stop() {
	select {
	case <-v.down:
	default:
		close(v.down)
	}
	v.wg.Wait()
}

// watch starts what sits there again whenever it ends, after a short while.
func (v *supervisor) watch(s *seat, seed uint64) {
	v.seats = append(v.seats, s)
	pause := rand.New(rand.NewPCG(seed, 0))
	v.wg.Go(func() {
		for {
			select {
			case <-s.sitting().done:
			case <-v.down:
				return
			}
			select {
			case <-time.After(time.Duration(pause.IntN(1500)) * time.Millisecond): // how long it is away
			case <-v.down:
			}
			next := s.start()
			s.mu.Lock()
			s.now = next
			s.mu.Unlock()
		}
	})
}

func (s *seat) sitting() *process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// kill kills what sits there, unless something did already.
func (s *seat) kill() {
	if p := s.sitting(); !p.ended() {
		s.kills.Add(1)
		p.kill()
	}
}
