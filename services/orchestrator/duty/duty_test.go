package duty_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/subject"
	"github.com/signalbox/signalbox/services/orchestrator/duty"
)

// known is what somebody knows of the log.
type known struct {
	atomic.Uint64
	hears chan uint64 // the newest that it heard
}

func (k *known) Known() uint64 { return k.Load() }

func (k *known) Know(seq uint64) {
	k.Store(max(seq, k.Load()))
	select {
	case k.hears <- seq:
	default:
	}
}

// heard waits until that was heard.
func (k *known) heard(t *testing.T, seq uint64) {
	t.Helper()
	for ctx := soon(t); ; {
		select {
		case n := <-k.hears:
			if n == seq {
				return
			}
		case <-ctx.Done():
			t.Fatalf("it does not hear of %d, but knows %d", seq, k.Load())
		}
	}
}

type orchestrator struct {
	*duty.Post
	known
}

func newOrchestrator(t *testing.T, s *natstest.Server) *orchestrator {
	o := &orchestrator{known: known{hears: make(chan uint64, 1)}}
	o.Post = duty.New(s.Connect(t), &o.known)
	return o
}

func (o *orchestrator) take(t *testing.T) *duty.Turn {
	t.Helper()
	turn, err := o.Take()
	if err != nil {
		t.Fatal(err)
	}
	return turn
}

func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func TestOneStandsByUntilWhoIsOnDutyLeaves(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	first, second := newOrchestrator(t, server), newOrchestrator(t, server)
	if second.Taken(t.Context()) {
		t.Fatal("somebody is on duty before anybody went")
	}
	first.Store(7)
	turn := first.take(t)
	if !second.Taken(t.Context()) {
		t.Fatal("nobody is on duty, but the first is")
	}
	if n := second.Load(); n != 7 {
		t.Errorf("who stands by knows the log to %d, want 7", n)
	}

	came := make(chan error, 1)
	go func() { came <- second.Await(soon(t)) }()
	first.Store(9)
	second.heard(t, 9) // it goes on asking
	select {
	case err := <-came:
		t.Fatalf("it did not stand by while another was on duty: %v", err)
	default:
	}
	turn.End()
	if err := <-came; err != nil {
		t.Fatal(err)
	}
}

func TestWhoIsPausedOnDutyIsNotWaitedFor(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	if _, err := server.Connect(t).Subscribe(subject.Duty, func(*nats.Msg) {}); err != nil {
		t.Fatal(err)
	}
	if err := newOrchestrator(t, server).Await(soon(t)); err != nil {
		t.Fatal(err)
	}
}

func TestOfTwoOnDutyTheYoungerIsRelieved(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	elder, younger := newOrchestrator(t, server), newOrchestrator(t, server)
	ctx, cancel := context.WithCancel(soon(t))
	turn := elder.take(t)
	stays := make(chan error, 1)
	go func() { stays <- turn.Relieved(ctx) }()
	if err := younger.take(t).Relieved(soon(t)); err != nil {
		t.Fatalf("the younger: %v", err)
	}
	cancel()
	if err := <-stays; !errors.Is(err, context.Canceled) {
		t.Errorf("the elder: %v", err)
	}
}

func TestAwaitingEndsWithTheContext(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	newOrchestrator(t, server).take(t)
	ctx, cancel := context.WithCancel(t.Context())
	came := make(chan error, 1)
	second := newOrchestrator(t, server)
	go func() { came <- second.Await(ctx) }()
	cancel()
	if err := <-came; !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
}

// Connections come back one after the other: who is back first has to wait for
// who was on duty.
func TestAfterTheServerWasAwayNobodyGoesAtOnce(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	first, second := newOrchestrator(t, server), newOrchestrator(t, server)
	first.Store(3)
	turn := first.take(t)
	came := make(chan time.Time, 1)
	go func() {
		if second.Await(soon(t)) == nil {
			came <- time.Now()
		}
	}()
	second.heard(t, 3) // it asks
	server.Restart(t)
	back := time.Now()
	turn.End()
	if took := (<-came).Sub(back); took < time.Second {
		t.Errorf("it went %s after the server was back, want 2 s", took)
	}
}
