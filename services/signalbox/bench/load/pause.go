package load

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/signalbox/signalbox/pkg/agent"
)

// pause waits for Resume if the step is the one to hold.
func (l *Load) pause(ctx context.Context, job agent.Job) error {
	if !slices.Contains(job.Issue.Labels, strconv.Itoa(job.Iteration+1)) {
		return nil
	}
	resume := make(chan struct{})
	l.mu.Lock()
	l.stops[job.Instance] = resume
	close(l.changed) // wakes Paused
	l.changed = make(chan struct{})
	l.mu.Unlock()
	select {
	case <-resume:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Paused waits until n instances are held.
func (l *Load) Paused(ctx context.Context, n int) error {
	for {
		l.mu.Lock()
		held, changed := len(l.stops), l.changed
		l.mu.Unlock()
		if held >= n {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Resume resumes a held instance, waits for its end, and returns its hand-offs from
// there on.
func (l *Load) Resume(ctx context.Context, id string) ([]time.Duration, error) {
	l.watch(true)
	end := l.endOf(id)
	l.mu.Lock()
	resume, ok := l.stops[id]
	delete(l.stops, id)
	l.mu.Unlock()
	if !ok {
		return nil, fmt.Errorf("%s is not held", id)
	}
	close(resume)
	select {
	case <-end:
		return l.watched(), nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
