package e2e

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// supervisor restarts processes that end.
type supervisor struct {
	processes []*supervised
	stopped   chan struct{} // closed when nothing is restarted any more
	wg        sync.WaitGroup
}

// supervised is one process that is restarted whenever it ends.
type supervised struct {
	name  string
	start func() *process
	kills atomic.Int64

	mu      sync.Mutex
	process *process
}

// supervise restarts the processes of a running env until stop.
func supervise(t *testing.T, s *env, r *rand.Rand) *supervisor {
	t.Helper()
	v := &supervisor{stopped: make(chan struct{})}
	v.watch(&supervised{name: natsName, process: s.processes[natsName], start: func() *process { return s.nats.start(t) }}, r.Uint64())
	for _, name := range s.processNames() {
		v.watch(&supervised{name: name, process: s.processes[name], start: func() *process { return s.startProcess(t, name) }}, r.Uint64())
	}
	return v
}

// stop ends the supervision; every process runs when it returns.
func (v *supervisor) stop() {
	select {
	case <-v.stopped:
	default:
		close(v.stopped)
	}
	v.wg.Wait()
}

// watch restarts a process whenever it ends, after a short pause.
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
			case <-time.After(time.Duration(pause.IntN(1500)) * time.Millisecond): // downtime
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

// kill kills the current process unless it has ended already.
func (s *supervised) kill() {
	if p := s.current(); !p.ended() {
		s.kills.Add(1)
		p.kill()
	}
}
