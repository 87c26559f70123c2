package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	store "github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

const defaultTimers = 500 // without SIGNALBOX_TIMERS

// stayLifecycle is a lifecycle whose instances stay in one state.
const stayLifecycle = `
workflow: %s
version: 1
initial: here
states:
  here:
    owner: nobody
    timeout: %s
    next: [away]
    decide: [{to: away}]
  away: {final: true}
`

// TestTimersOutliveEverything arms timers and kills the orchestrators and the
// nats-server twice: until the first deadlines are over, and while others pass. No
// timer is lost, fires twice or early, or fires for a state that was left.
func TestTimersOutliveEverything(t *testing.T) {
	t.Parallel()
	n := intFromEnv(t, "SIGNALBOX_TIMERS", defaultTimers)
	timeouts := make([]time.Duration, 8) // spread the deadlines
	for i := range timeouts {
		timeouts[i] = max(4*time.Second, time.Duration(n)*6*time.Millisecond) * time.Duration(4+i) / 4
	}
	t.Logf("SIGNALBOX_TIMERS=%d, deadlines from %s to %s after the entry", n, timeouts[0]*4/5, slices.Max(timeouts)*3/2)
	c := newProcessGroup(t, "")
	server, nats := startNATS(t, c, t.TempDir())
	dir := t.TempDir()
	for i, timeout := range timeouts {
		if err := os.WriteFile(filepath.Join(dir, stayWorkflow(i)+".yaml"), fmt.Appendf(nil, stayLifecycle, stayWorkflow(i), timeout),
			0o600); err != nil {
			t.Fatal(err)
		}
	}
	mark := filepath.Join(t.TempDir(), "watermark")
	orchestrator := func(name string) *process {
		return c.start(t, name, binary(t, "orchestrator"), "--nats", server.url(), "--http", "127.0.0.1:0", "--workflow-dir", dir,
			"--watermark", mark)
	}
	first, second := orchestrator("orchestrator"), orchestrator("orchestrator-2")
	first.expect(t, `"msg":"running"`)
	second.expect(t, `"msg":"running"`)
	nc, js := server.connect(t)
	log := followDeadlines(t, js, timeouts)

	began := time.Now()
	people := client.New(nc, "operator:test")
	log.openInstances(t, people, n)
	t.Logf("%d instances opened in %s", n, since(began))

	// Timers that are lost altogether are armed again by the first orchestrator.
	first.kill()
	second.kill()
	if err := js.DeleteStream(t.Context(), subject.TimerStream); err != nil {
		t.Fatal(err)
	}
	first = orchestrator("orchestrator")
	var reconciled struct {
		Armed float64
		Took  string
	}
	if err := json.Unmarshal([]byte(first.expect(t, `"msg":"timers reconciled"`)), &reconciled); err != nil {
		t.Fatal(err)
	}
	took, err := time.ParseDuration(reconciled.Took)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%.0f timers armed in %s: %.0f/s", reconciled.Armed, took, reconciled.Armed/took.Seconds())
	second = orchestrator("orchestrator-2")
	second.expect(t, `"msg":"running"`)
	deadlines := 3 * (n - log.cancelSome(t, people))

	away := func(until time.Time) {
		first.kill()
		second.kill()
		nats.kill()
		down, passed := time.Now(), log.count()
		due := time.NewTimer(time.Until(until))
		<-due.C // nothing runs meanwhile
		nats = server.start(t)
		first, second = orchestrator("orchestrator"), orchestrator("orchestrator-2")
		first.expect(t, `"msg":"running"`)
		log.outages = append(log.outages, outage{down, time.Now()})
		t.Logf("down for %s, %d of %d deadlines had passed", since(down), passed, deadlines)
	}
	away(log.lastEntered().Add(timeouts[0]))
	log.await(t, deadlines/2)
	away(time.Now())
	log.await(t, deadlines)
	log.check(t)
}

func stayWorkflow(i int) string { return fmt.Sprint("stays-", i) }

func since(t time.Time) time.Duration { return time.Since(t).Round(10 * time.Millisecond) }

// deadlineLog records the deadlines in the log of instances that stay in one state.
type deadlineLog struct {
	timeouts []time.Duration // by number of the lifecycle
	outages  []outage

	mu       sync.Mutex
	stays    map[string]*stayRecord
	recorded int // deadlines of instances that are not cancelled
	update   chan struct{}
}

type stayRecord struct {
	lifecycle  int // number of its lifecycle
	entered    time.Time
	cancels    bool
	cancelled  bool
	recorded   map[workflow.Level]time.Time
	violations []string
}

// outage is a time in which nothing ran.
type outage struct{ from, to time.Time }

// followDeadlines follows the log until the test ends.
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

// due returns when a deadline of a stay is reached.
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
				s.violations = append(s.violations, fmt.Sprintf("%s at %s, entered %s, left %v, before %v", e.Level, c.At, s.entered, s.cancelled,
					s.recorded))
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

// openInstances opens n instances, one in ten of which will be cancelled.
func (l *deadlineLog) openInstances(t *testing.T, c *client.Client, n int) {
	t.Helper()
	for i := range n {
		l.stays[fmt.Sprint("stay-", i)] = &stayRecord{lifecycle: i % len(l.timeouts), cancels: i%10 == 0,
			recorded: map[workflow.Level]time.Time{}}
	}
	l.forEach(t, func(ctx context.Context, id string, s *stayRecord) error {
		_, err := c.Open(ctx, "", stayWorkflow(s.lifecycle), id, instance.Issue{Title: id})
		return err
	})
}

// cancelSome cancels those instances and returns their number.
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

// forEach calls f for every instance, many at a time.
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

// await returns when n deadlines of instances that stay are recorded.
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

// lastEntered returns when the last instance was opened.
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

// check fails for missing, doubled and early deadlines, and logs how late the
// others were.
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
