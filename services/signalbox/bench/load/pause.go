package load

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/signalbox/signalbox/pkg/agent"
)

// pause holds the step that the instance's opener said, until Resume.
func (l *Load) pause(ctx context.Context, job agent.Job) error {
	if !slices.Contains(job.Issue.Labels, strconv.Itoa(job.Iteration+1)) {
		return nil
	}
	goOn := make(chan struct{})
	l.mu.Lock()
	l.stops[job.Instance] = goOn
	l.tell()
	l.mu.Unlock()
	select {
	case <-goOn:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Paused waits until so many instances are held.
func (l *Load) Paused(ctx context.Context, n int) error {
	return l.until(ctx, func() bool { return len(l.stops) >= n })
}

// Resume lets a held instance go on, waits for its end, and returns the times
// from the end of one of its steps to the start of the next from there on.
func (l *Load) Resume(ctx context.Context, id string) ([]time.Duration, error) {
	l.watch(true)
	end := l.expect(id)
	l.mu.Lock()
	goOn, ok := l.stops[id]
	delete(l.stops, id)
	l.mu.Unlock()
	if !ok {
		return nil, fmt.Errorf("%s is not held", id)
	}
	close(goOn)
	select {
	case <-end:
		return l.watched(), nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// tell wakes those who wait. The caller holds the lock.
func (l *Load) tell() {
	close(l.more)
	l.more = make(chan struct{})
}

// until waits until ok, which is called with the lock held.
func (l *Load) until(ctx context.Context, ok func() bool) error {
	for {
		l.mu.Lock()
		is, more := ok(), l.more
		l.mu.Unlock()
		if is {
			return nil
		}
		select {
		case <-more:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
