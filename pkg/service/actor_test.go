package service

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestActorsThatDoNotEndAreNamedWhenGraceIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		release := make(chan struct{})
		var a actors
		a.add("quick", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
		a.add("stuck", func(context.Context) error { <-release; return nil })
		time.AfterFunc(time.Minute, stop)

		began := time.Now()
		err := a.run(ctx, stop, 10*time.Second)
		if !errors.Is(err, ErrGrace) || !strings.Contains(err.Error(), "stuck: ") || strings.Contains(err.Error(), "quick") {
			t.Errorf("error is %v", err)
		}
		if took := time.Since(began); took != time.Minute+10*time.Second+graceMargin {
			t.Errorf("it took %s", took)
		}
		close(release)
		synctest.Wait()
	})
}

func TestWhatEveryActorSaysAtItsEndIsKept(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	first, second := errors.New("disk full"), errors.New("lease not given back")
	var a actors
	a.add("one", func(context.Context) error { return first })
	a.add("two", func(ctx context.Context) error { <-ctx.Done(); return second })
	a.add("three", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
	err := a.run(ctx, stop, time.Minute)
	if !errors.Is(err, first) || !errors.Is(err, second) || errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}

func TestABaseIsStoppedWhenAllThatStandOnItHaveEnded(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	var order []string
	var a actors
	a.addBase("log", func(ctx context.Context) error { <-ctx.Done(); order = append(order, "log"); return nil })
	a.add("agent", func(ctx context.Context) error { <-ctx.Done(); order = append(order, "agent"); return nil })
	stop()
	if err := a.run(ctx, stop, time.Minute); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(order, ", "); got != "agent, log" {
		t.Errorf("they ended in the order %s", got)
	}
}

func TestABaseThatEndsStopsAll(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	broken := errors.New("disk full")
	var a actors
	a.addBase("log", func(context.Context) error { return broken })
	a.add("agent", func(ctx context.Context) error { <-ctx.Done(); return nil })
	if err := a.run(ctx, stop, time.Minute); !errors.Is(err, broken) {
		t.Errorf("error is %v", err)
	}
}

func TestOneActorOfANameIsEnough(t *testing.T) {
	h, ran := new(Host), 0
	for range 2 {
		h.AddBaseOnce("majority", func(context.Context) error { ran++; return nil })
	}
	h.AddBaseOnce("log", func(ctx context.Context) error { <-ctx.Done(); return nil })
	ctx, stop := context.WithCancel(t.Context())
	if err := h.actors.run(ctx, stop, time.Minute); err != nil || ran != 1 || len(h.actors.list) != 2 {
		t.Errorf("of two actors %d ran beside %d others: %v", ran, len(h.actors.list)-1, err)
	}
}
