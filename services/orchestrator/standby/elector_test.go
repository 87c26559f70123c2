package standby_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/services/orchestrator/standby"
)

// watermark implements standby.Watermark and sends what it was raised to.
type watermark struct {
	atomic.Uint64
	raised chan uint64 // the latest argument of Know
}

func (w *watermark) Known() uint64 { return w.Load() }

func (w *watermark) Know(seq uint64) {
	w.Store(max(seq, w.Load()))
	select {
	case w.raised <- seq:
	default:
	}
}

// awaitRaised waits until Know was called with seq.
func (w *watermark) awaitRaised(t *testing.T, seq uint64) {
	t.Helper()
	for ctx := soon(t); ; {
		select {
		case n := <-w.raised:
			if n == seq {
				return
			}
		case <-ctx.Done():
			t.Fatalf("the watermark is not raised to %d, it is %d", seq, w.Load())
		}
	}
}

type orchestrator struct {
	*standby.Elector
	watermark
}

func newOrchestrator(t *testing.T, s *natstest.Server) *orchestrator {
	o := &orchestrator{watermark: watermark{raised: make(chan uint64, 1)}}
	o.Elector = standby.NewElector(s.Connect(t), &o.watermark)
	return o
}

func (o *orchestrator) activate(t *testing.T) *standby.Term {
	t.Helper()
	term, err := o.Activate()
	if err != nil {
		t.Fatal(err)
	}
	return term
}

func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func TestOneStandsByUntilTheTermOfTheActiveOneEnds(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	first, second := newOrchestrator(t, server), newOrchestrator(t, server)
	if second.HasActive(t.Context()) {
		t.Fatal("one is active before any was activated")
	}
	first.Store(7)
	term := first.activate(t)
	if !second.HasActive(t.Context()) {
		t.Fatal("none is active, but the first is")
	}
	if n := second.Load(); n != 7 {
		t.Errorf("the watermark of the one that stands by is %d, want 7", n)
	}

	inactive := make(chan error, 1)
	go func() { inactive <- second.WaitInactive(soon(t)) }()
	first.Store(9)
	second.awaitRaised(t, 9) // it goes on asking
	select {
	case err := <-inactive:
		t.Fatalf("it did not stand by while another was active: %v", err)
	default:
	}
	term.End()
	if err := <-inactive; err != nil {
		t.Fatal(err)
	}
}

func TestAnActiveOneThatIsPausedIsNotWaitedFor(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	if _, err := server.Connect(t).Subscribe(subject.ActiveOrchestrator, func(*nats.Msg) {}); err != nil {
		t.Fatal(err)
	}
	if err := newOrchestrator(t, server).WaitInactive(soon(t)); err != nil {
		t.Fatal(err)
	}
}

func TestOfTwoActiveOnesTheYoungerIsSuperseded(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	older, younger := newOrchestrator(t, server), newOrchestrator(t, server)
	ctx, cancel := context.WithCancel(soon(t))
	term := older.activate(t)
	ended := make(chan error, 1)
	go func() { ended <- term.Superseded(ctx) }()
	if err := younger.activate(t).Superseded(soon(t)); err != nil {
		t.Fatalf("the younger: %v", err)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the older: %v", err)
	}
}

func TestWaitingEndsWithTheContext(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	newOrchestrator(t, server).activate(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	second := newOrchestrator(t, server)
	go func() { ended <- second.WaitInactive(ctx) }()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
}

// Connections come back one after the other: the first to be back has to wait for
// the one that was active.
func TestAfterTheServerWasAwayNoneBecomesActiveAtOnce(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	first, second := newOrchestrator(t, server), newOrchestrator(t, server)
	first.Store(3)
	term := first.activate(t)
	inactive := make(chan time.Time, 1)
	go func() {
		if second.WaitInactive(soon(t)) == nil {
			inactive <- time.Now()
		}
	}()
	second.awaitRaised(t, 3) // it asks
	server.Restart(t)
	back := time.Now()
	term.End()
	if took := (<-inactive).Sub(back); took < time.Second {
		t.Errorf("it became active %s after the server was back, want 2 s", took)
	}
}
