package load

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/instance"
)

// Work implements agent.Handler: it succeeds at once, and says when the last of
// the instance's steps was done.
func (l *Load) Work(ctx context.Context, job agent.Job) (instance.Result, error) {
	l.begin(job.Instance)
	if l.Hold {
		<-ctx.Done()
		return instance.Result{}, context.Cause(ctx)
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

// last reports whether the job is its instance's last.
func last(job agent.Job) bool {
	steps, err := strconv.Atoi(job.Issue.Title)
	return err == nil && job.Iteration+1 >= steps
}

func (l *Load) begin(id string) {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.Hold || l.begun != nil {
		l.begun = append(l.begun, now.UnixNano())
		l.tell()
	}
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

// watch notes the gaps from here on, or no more.
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

// expect returns what is closed when the instance has ended.
func (l *Load) expect(id string) <-chan struct{} {
	end := make(chan struct{})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ends[id] = end
	return end
}

// Begun waits until n pieces of work have begun since it was first called, and
// says when each did.
func (l *Load) Begun(ctx context.Context, n int) ([]int64, error) {
	var begun []int64
	err := l.until(ctx, func() bool {
		if l.begun == nil {
			l.begun = []int64{}
		}
		begun = slices.Clone(l.begun)
		return len(begun) >= n
	})
	return begun, err
}

// Started implements agent.Observer.
func (l *Load) Started(agent.Job) {}

// Progressed implements agent.Observer.
func (l *Load) Progressed(agent.Job, string) {}

// Ended implements agent.Observer: a step is done when its result was taken.
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
