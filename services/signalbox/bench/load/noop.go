package load

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// Work implements agent.Handler. It succeeds at once, and proposes the end after the
// last step. An instance that goes on after that makes the figures wrong: Run fails.
func (l *Load) Work(ctx context.Context, job agent.Job) (instance.Result, error) {
	l.begin(job.Instance)
	if over(job) {
		l.mu.Lock()
		l.endless = job.Instance
		l.mu.Unlock()
	}
	if err := l.pause(ctx, job); err != nil {
		return instance.Result{}, err
	}
	done := instance.Result{Status: instance.Success, ConfidenceScore: 1}
	if last(job) {
		done.Next = "done"
	}
	l.end(job.Instance)
	return done, nil
}

// last reports whether the job is the last step of its instance, or a later one.
func last(job agent.Job) bool {
	steps, err := strconv.Atoi(job.Issue.Title)
	return err == nil && job.Iteration+1 >= steps
}

// over reports whether the instance had its last step before this job.
func over(job agent.Job) bool {
	steps, err := strconv.Atoi(job.Issue.Title)
	return err == nil && job.Iteration >= steps
}

func (l *Load) begin(id string) {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if before, ok := l.last[id]; ok {
		l.gaps = append(l.gaps, now.Sub(before))
	}
}

func (l *Load) end(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last != nil {
		l.last[id] = time.Now()
	}
}

// watch starts or stops recording hand-offs.
func (l *Load) watch(on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gaps, l.last = nil, nil
	if on {
		l.last = map[string]time.Time{}
	}
}

func (l *Load) watched() []time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.gaps)
}

// endOf returns a channel that is closed when the instance has ended.
func (l *Load) endOf(id string) <-chan struct{} {
	end := make(chan struct{})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ends[id] = end
	return end
}

// Started implements agent.Observer.
func (l *Load) Started(agent.Job) {}

// Progressed implements agent.Observer.
func (l *Load) Progressed(agent.Job, string) {}

// Ended implements agent.Observer. A step has ended when its report is committed.
func (l *Load) Ended(job agent.Job, _ instance.Result, err error, _ time.Duration) {
	if err != nil || !last(job) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.last, job.Instance)
	if end, ok := l.ends[job.Instance]; ok {
		close(end)
		delete(l.ends, job.Instance)
	}
}
