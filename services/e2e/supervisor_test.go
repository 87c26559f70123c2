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
	processes []*supervised
	stopped   chan struct{} // closed when nothing is started any more
	wg        sync.WaitGroup
}

// seat is one part's place.
type supervised struct {
	name  string
	start func() *process
	kills atomic.Int64

	mu      sync.Mutex
	process *process
}

// supervise takes over the parts of a running system until stop.
func supervise(t *testing.T, s *env, r *rand.Rand) *supervisor {
	t.Helper()
	v := &supervisor{stopped: make(chan struct{})}
	v.watch(&supervised{name: natsName, process: s.processes[natsName], start: func() *process { return s.nats.start(t) }}, r.Uint64())
	for _, name := range s.processNames() {
		v.watch(&supervised{name: name, process: s.processes[name], start: func() *process { return s.startProcess(t, name) }}, r.Uint64())
	}
	return v
}

// stop returns when everything runs and nothing will be started again.
func (v *supervisor) stop() {
	select {
	case <-v.stopped:
	default:
		close(v.stopped)
	}
	v.wg.Wait()
}

// watch starts what sits there again whenever it ends, after a short while.
func (v *supervisor) watch(s *supervised, seed uint64) {
	v.processes = append(v.processes, s)
	pause := rand.New(rand.NewPCG(seed, 0))
	v.wg.Go(func() {
		for {
			select {
			case <-s.current().done:
			case <-v.stopped:
				return
			}
			select {
			case <-time.After(time.Duration(pause.IntN(1500)) * time.Millisecond): // how long it is away
			case <-v.stopped:
			}
			next := s.start()
			s.mu.Lock()
			s.process = next
			s.mu.Unlock()
		}
	})
}

func (s *supervised) current() *process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.process
}

// kill kills what sits there, unless something did already.
func (s *supervised) kill() {
	if p := s.current(); !p.ended() {
		s.kills.Add(1)
		p.kill()
	}
}
