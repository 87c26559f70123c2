package api

import "sync"

// crew works on what it is given, beside each other. Who was needed once stays:
// a goroutine whose stack has grown is worth more than a new one.
type crew struct {
	most  int
	hired int // by the callers of do, under mu
	mu    sync.Mutex
	work  chan func()
	close sync.Once
	gone  sync.WaitGroup
}

func newCrew(most int) crew { return crew{most: most, work: make(chan func())} }

// do has somebody work. It waits only if all that there may be are busy.
func (c *crew) do(work func()) {
	select {
	case c.work <- work:
		return
	default:
	}
	if c.hire(work) {
		return
	}
	c.work <- work
}

func (c *crew) hire(work func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hired == c.most {
		return false
	}
	c.hired++
	c.gone.Go(func() {
		for ; work != nil; work = <-c.work {
			work()
		}
	})
	return true
}

// dismiss returns when all have gone. Nothing may be given to do any more.
func (c *crew) dismiss() {
	c.close.Do(func() { close(c.work) })
	c.gone.Wait()
}
