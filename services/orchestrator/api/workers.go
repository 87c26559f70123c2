package api

import "sync"

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
