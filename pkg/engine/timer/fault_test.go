package timer_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/engine/timer"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// engineProxy is an engine whose Handle can be replaced.
type engineProxy struct {
	timer.Engine
	handle func(context.Context, instance.Command, string) (engine.Outcome, error)
}

func (b *engineProxy) Handle(ctx context.Context, cmd instance.Command, name string) (engine.Outcome, error) {
	return b.handle(ctx, cmd, name)
}

// The server removes the message at the armed subject of a timer that fires, even
// one stored a moment before, for the next stay.
func TestATimerOfAPastStayIsRefusedAndThePresentOneArmedAgain(t *testing.T) {
	t.Parallel()
	e := newEnv(t, "timeout: 3s", "timeout: 1h")
	r := e.replica()
	r.open("a")
	r.report("a", instance.Success)
	now := r.report("a", instance.Success)
	at := "sb.timer.armed.deadline.a"
	present := func(armed map[string]body) bool { return armed[at].Entered == now.Entered }
	e.awaitTimers("the second stay's", present)
	stream, err := e.js.Stream(t.Context(), subject.TimerStream)
	if err != nil {
		t.Fatal(err)
	}
	before, err := stream.GetLastMsgForSubject(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	late := nats.NewMsg("sb.timer.fired.deadline.a")
	late.Data = []byte(`{"due":"2026-01-02T09:00:00Z","entered":1,"level":"warning","seq":1}`)
	late.Header.Set("Nats-Scheduler", at)
	late.Header.Set("Nats-Schedule-Next", "purge")
	if _, err := e.js.PublishMsg(t.Context(), late); err != nil {
		t.Fatal(err)
	}
	e.awaitTimers("the second stay's, again", func(armed map[string]body) bool {
		after, err := stream.GetLastMsgForSubject(t.Context(), at)
		return present(armed) && err == nil && after.Sequence > before.Sequence
	})
	if got := e.timeouts("a", 0); len(got) > 0 {
		t.Errorf("it passed %v", got)
	}
}

func TestAFaultIsTriedAgain(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	var faults atomic.Int64
	r := e.replica(func(c *timer.Config, e *engine.Engine) {
		c.Engine = &engineProxy{e, func(ctx context.Context, cmd instance.Command, name string) (engine.Outcome, error) {
			if faults.Add(1) < 3 {
				return engine.Outcome{}, errors.New("the log is away")
			}
			return e.Handle(ctx, cmd, name)
		}}
	})
	r.open("a")
	r.level("a", workflow.Escalation)
	if got := e.timeouts("a", 0); !slices.Equal(got, levels) {
		t.Errorf("it passed %v, want %v", got, levels)
	}
}

// The server's clock is ahead of the orchestrator's.
func TestATimerThatComesEarlyIsHeardInTime(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	var early atomic.Int64
	r := e.replica(func(c *timer.Config, e *engine.Engine) {
		e.Now = func() time.Time { return time.Now().Add(-time.Second) }
		c.Now = e.Now
		c.Engine = &engineProxy{e, func(ctx context.Context, cmd instance.Command, name string) (engine.Outcome, error) {
			out, err := e.Handle(ctx, cmd, name)
			if errors.Is(err, &instance.Refusal{Code: instance.CodeEarly}) {
				early.Add(1)
			}
			return out, err
		}}
	})
	r.open("a")
	r.level("a", workflow.Escalation)
	if got := e.timeouts("a", 0); !slices.Equal(got, levels) || early.Load() == 0 {
		t.Errorf("it passed %v with %d early", got, early.Load())
	}
}

func TestWhatTheDefinitionCannotAnswerIsAskedOnce(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	var asked atomic.Int64
	r := e.replica(func(c *timer.Config, e *engine.Engine) {
		c.Engine = &engineProxy{e, func(ctx context.Context, cmd instance.Command, name string) (engine.Outcome, error) {
			if cmd.Instance == "a" {
				asked.Add(1)
				return engine.Outcome{}, &instance.Refusal{Code: instance.CodeUndecided, Instance: "a", What: "a guard failed"}
			}
			return e.Handle(ctx, cmd, name)
		}}
	})
	r.open("a")
	r.open("b")
	r.level("b", workflow.Escalation)
	if asked.Load() != 1 {
		t.Errorf("it was asked %d times", asked.Load())
	}
}

func TestTheTimersAreMadeToBeWhatTheLogSays(t *testing.T) {
	t.Parallel()
	e := newEnv(t, "timeout: 3s", "timeout: 1h")
	first := e.replica()
	first.open("kept")
	first.open("missing")
	first.open("moved")
	first.open("ended")
	e.awaitArmed(4)
	first.stop()
	first.report("ended", instance.Failure)
	first.report("moved", instance.Success)
	moved := first.report("moved", instance.Success)
	stream, err := e.js.Stream(t.Context(), subject.TimerStream)
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Purge(t.Context(), jetstream.WithPurgeSubject("sb.timer.armed.deadline.missing")); err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"sb.timer.armed.deadline.unknown", "sb.timer.armed.wake.kept"} {
		orphan := nats.NewMsg(s)
		orphan.Data = []byte(`{"due":"2126-01-02T09:00:00Z","entered":1,"seq":1}`)
		orphan.Header.Set("Nats-Schedule", "@at 2126-01-02T09:00:00Z")
		orphan.Header.Set("Nats-Schedule-Target", "sb.timer.fired.wake.kept")
		if _, err := e.js.PublishMsg(t.Context(), orphan); err != nil {
			t.Fatal(err)
		}
	}
	e.awaitArmed(5)
	right := func(armed map[string]body) bool {
		return len(armed) == 3 && armed["sb.timer.armed.deadline.moved"].Entered == moved.Entered &&
			armed["sb.timer.armed.deadline.missing"].Level == workflow.Warning && armed["sb.timer.armed.deadline.kept"].Level == workflow.Warning
	}
	e.replica(func(c *timer.Config, _ *engine.Engine) { c.ReconcileEvery = 100 * time.Millisecond })
	e.awaitTimers("those of the log", right)
	if err := e.js.DeleteStream(t.Context(), subject.TimerStream); err != nil {
		t.Fatal(err)
	}
	e.awaitTimers("those of the log, in a new stream", right)
}

// The process died between the commit and its timer.
func TestWhatOneProcessLeavesUnarmedAnotherArms(t *testing.T) {
	t.Parallel()
	e := newEnv(t, "timeout: 3s", "timeout: 1h")
	e.replica(func(c *timer.Config, _ *engine.Engine) { c.OthersDelay = 100 * time.Millisecond })
	dead := e.replica()
	dead.stop()
	dead.open("a")
	e.awaitArmed(1)
	dead.report("a", instance.Success)
	again := dead.report("a", instance.Success)
	e.awaitTimers("the second stay's", func(armed map[string]body) bool {
		return armed["sb.timer.armed.deadline.a"].Entered == again.Entered
	})
	dead.do("a", instance.Cancel{Reason: "away"})
	e.awaitArmed(0)
}
