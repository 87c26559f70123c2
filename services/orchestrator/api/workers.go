package api

import (
	"context"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/engine"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// workerPool runs tasks concurrently, on goroutines that it keeps. A new goroutine for each request
// would have to grow its stack each time. That is a tenth of the CPU of a step, which the goal of the
// bench row `throughput`, default mode, separate nats-server, cannot spare.
type workerPool struct {
	tasks   chan func()   // nil ends a worker
	slots   chan struct{} // one for each worker
	workers sync.WaitGroup
}

// newWorkerPool returns a pool of at most size workers.
func newWorkerPool(size int) *workerPool {
	return &workerPool{tasks: make(chan func()), slots: make(chan struct{}, size)}
}

// run hands the task to an idle worker, or to a new one. It blocks while all workers are busy.
func (p *workerPool) run(task func()) {
	select {
	case p.tasks <- task:
		return
	default:
	}
	select {
	case p.tasks <- task:
	case p.slots <- struct{}{}:
		p.workers.Go(func() {
			for ; task != nil; task = <-p.tasks {
				task()
			}
		})
	}
}

// close ends the workers when their tasks have ended, and waits for them. No task may be run afterwards.
func (p *workerPool) close() {
	close(p.tasks)
	p.workers.Wait()
}

// run calls handle on a worker and replies to the request with what it returns. If the server is closed
// it refuses the request.
func (s *Server) run(r request, handle func(ctx context.Context) (proto.Message, *pb.Refusal)) {
	s.runOn(s.workers, r, handle)
}

// runOn is run with other workers.
func (s *Server) runOn(workers *workerPool, r request, handle func(ctx context.Context) (proto.Message, *pb.Refusal)) {
	start := time.Now()
	if s.begin() {
		workers.run(func() {
			defer s.requests.Done()
			ctx, cancel := context.WithTimeout(context.Background(), timeout)
			defer cancel()
			reply, no := handle(engine.WithTrace(ctx, r.trace))
			s.reply(r, start, reply, no)
		})
		return
	}
	s.reply(r, start, nil, stopping())
}
