package e2e

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/client"
	"github.com/signalbox/signalbox/pkg/eventstore"
	store "github.com/signalbox/signalbox/pkg/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/wire"
	"github.com/signalbox/signalbox/pkg/workflow"
)

// stayLog is what the log says of instances that stay in one state.
type deadlineLog struct {
	timeouts []time.Duration // by the number of the lifecycle
	outages  []outage

	mu       sync.Mutex
	stays    map[string]*stayRecord
	recorded int // deadlines of those that are not to leave
	update   chan struct{}
}

type stayRecord struct {
	lifecycle  int // the number of its lifecycle
	entered    time.Time
	cancels    bool
	cancelled  bool
	recorded   map[workflow.Level]time.Time
	violations []string
}

// outage is when nothing ran.
type outage struct{ from, to time.Time }

// watchStays follows the log until the test ends.
func followDeadlines(t *testing.T, js jetstream.JetStream, timeouts []time.Duration) *deadlineLog {
	t.Helper()
	log, err := store.Open(t.Context(), js, store.Config{Watermark: filepath.Join(t.TempDir(), "watermark")})
	if err != nil {
		t.Fatal(err)
	}
	l := &deadlineLog{timeouts: timeouts, stays: map[string]*stayRecord{}, update: make(chan struct{}, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- log.Read(ctx, 1, l.apply, nil) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the log could no longer be read: %v", err)
		}
	})
	return l
}

// due is when a deadline of a stay is over.
func (l *deadlineLog) due(s *stayRecord, level workflow.Level) time.Time {
	part := map[workflow.Level]float64{workflow.Warning: 0.8, workflow.Alert: 1, workflow.Escalation: 1.5}[level]
	return s.entered.Add(time.Duration(float64(l.timeouts[s.lifecycle]) * part))
}

func (l *deadlineLog) apply(stored eventstore.Commit) error {
	c, err := wire.ToCommit(stored)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range c.Events {
		s := l.stays[stored.Instance]
		switch e := e.(type) {
		case instance.Opened:
			s.entered = c.At
		case instance.CancelledBy:
			s.cancelled = true
		case instance.TimedOut:
			if _, twice := s.recorded[e.Level]; twice || s.cancelled || c.At.Before(l.due(s, e.Level)) {
				s.violations = append(s.violations, fmt.Sprintf("%s at %s, entered %s, left %v, before %v", e.Level, c.At, s.entered, s.cancelled, s.recorded))
			}
			s.recorded[e.Level] = c.At
			if !s.cancels {
				l.recorded++
			}
		}
	}
	select {
	case l.update <- struct{}{}:
	default:
	}
	return nil
}

// open opens n instances, one in ten of which is to leave, and returns when each
// is there.
func (l *deadlineLog) openInstances(t *testing.T, c *client.Client, n int) {
	t.Helper()
	for i := range n {
		l.stays[fmt.Sprint("stay-", i)] = &stayRecord{lifecycle: i % len(l.timeouts), cancels: i%10 == 0, recorded: map[workflow.Level]time.Time{}}
	}
	l.forEach(t, func(ctx context.Context, id string, s *stayRecord) error {
		_, err := c.Open(ctx, "", stayWorkflow(s.lifecycle), id, instance.Issue{Title: id})
		return err
	})
}

// leave has those leave that are to, and returns how many.
func (l *deadlineLog) cancelSome(t *testing.T, c *client.Client) (left int) {
	t.Helper()
	l.forEach(t, func(ctx context.Context, id string, s *stayRecord) error {
		if !s.cancels {
			return nil
		}
		_, err := c.Cancel(ctx, id, "away")
		return err
	})
	for _, s := range l.stays {
		if s.cancels {
			left++
		}
	}
	return left
}

// each calls f for every instance, many at a time.
func (l *deadlineLog) forEach(t *testing.T, f func(ctx context.Context, id string, s *stayRecord) error) {
	t.Helper()
	ids := make(chan string)
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			for id := range ids {
				ctx, cancel := context.WithTimeout(t.Context(), maxWait)
				if err := f(ctx, id, l.stays[id]); err != nil {
					t.Errorf("%s: %v", id, err)
				}
				cancel()
			}
		})
	}
	for id := range l.stays {
		ids <- id
	}
	close(ids)
	wg.Wait()
}

// until returns when so many deadlines of those that stay have passed.
func (l *deadlineLog) await(t *testing.T, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), maxWait+2*slices.Max(l.timeouts))
	defer cancel()
	for {
		now := l.count()
		if now >= n {
			return
		}
		select {
		case <-l.update:
		case <-ctx.Done():
			t.Fatalf("%d deadlines passed, want %d: %d are lost", now, n, n-now)
		}
	}
}

func (l *deadlineLog) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.recorded
}

// last is when the last of them was opened.
func (l *deadlineLog) lastEntered() (at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.stays {
		if s.entered.After(at) {
			at = s.entered
		}
	}
	return at
}

// report fails for what must not be, and prints how late the deadlines were.
func (l *deadlineLog) check(t *testing.T) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	var up, after []time.Duration
	faults, lost := 0, 0
	for id, s := range l.stays {
		for _, f := range s.violations {
			t.Errorf("%s passed %s", id, f)
			faults++
		}
		for _, level := range []workflow.Level{workflow.Warning, workflow.Alert, workflow.Escalation} {
			at, ok := s.recorded[level]
			if !ok {
				if !s.cancels {
					t.Errorf("%s never passed its %s", id, level)
					lost++
				}
				continue
			}
			should := l.due(s, level)
			i := slices.IndexFunc(l.outages, func(o outage) bool { return should.Before(o.to) && at.After(o.from) })
			if i < 0 {
				up = append(up, at.Sub(should))
			} else {
				after = append(after, at.Sub(l.outages[i].to))
			}
		}
	}
	t.Logf("lost %d; early, twice or after leaving %d", lost, faults)
	t.Logf("late, of %d that came due while all ran: %s", len(up), percentiles(up))
	t.Logf("after everything ran again, of %d that came due before: %s", len(after), percentiles(after))
}

func percentiles(all []time.Duration) string {
	if len(all) == 0 {
		return "none"
	}
	slices.Sort(all)
	at := func(f float64) time.Duration { return all[int(f*float64(len(all)-1))].Round(time.Millisecond) }
	return fmt.Sprintf("p50 %s, p99 %s, max %s", at(0.5), at(0.99), at(1))
}
