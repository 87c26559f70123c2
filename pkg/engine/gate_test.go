package engine

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
)

func TestAGateIsEnteredTogetherOrAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g gate
		var order []string
		enter := func(name string, alone bool) (leave func()) {
			hold, held := make(chan struct{}), make(chan struct{})
			go func() {
				if err := g.enter(t.Context(), alone); err != nil {
					t.Error(err)
				}
				order = append(order, name)
				<-hold
				g.leave(alone)
				close(held)
			}()
			synctest.Wait()
			return func() { close(hold); <-held; synctest.Wait() }
		}
		inside := func(want ...string) {
			t.Helper()
			if len(order) != len(want) || len(want) > 0 && order[len(order)-1] != want[len(want)-1] {
				t.Fatalf("in came %v, want %v", order, want)
			}
		}
		one, two := enter("one", false), enter("two", false)
		inside("one", "two")
		alone := enter("alone", true)
		late := enter("late", false)
		inside("one", "two") // who comes late waits behind who wants to be alone
		one()
		inside("one", "two")
		two()
		inside("one", "two", "alone")
		alone()
		inside("one", "two", "alone", "late")
		late()
		if g.inside != 0 || len(g.queue) != 0 {
			t.Errorf("%d are inside, %d wait", g.inside, len(g.queue))
		}
	})
}

func TestWhoGivesUpAtAGateHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g gate
		if err := g.enter(t.Context(), false); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		gaveUp, entered := make(chan error), make(chan error, 1)
		go func() { gaveUp <- g.enter(ctx, true) }()
		synctest.Wait()
		go func() { entered <- g.enter(t.Context(), false) }()
		synctest.Wait()
		if len(entered) > 0 {
			t.Fatal("it did not wait")
		}
		cancel()
		if err := <-gaveUp; !errors.Is(err, context.Canceled) {
			t.Errorf("it gave up with %v", err)
		}
		if err := <-entered; err != nil {
			t.Error(err)
		}
		g.leave(false)
		g.leave(false)
		if g.inside != 0 || len(g.queue) != 0 {
			t.Errorf("%d are inside, %d wait", g.inside, len(g.queue))
		}
	})
}

// Those who are alone may write what the others read.
func TestNobodyIsInsideWithOneAlone(t *testing.T) {
	var g gate
	var wait sync.WaitGroup
	n := 0
	for i := range 300 {
		wait.Go(func() {
			alone := i%3 == 0
			if err := g.enter(t.Context(), alone); err != nil {
				t.Error(err)
				return
			}
			defer g.leave(alone)
			if alone {
				n++
			} else if n < 0 {
				t.Error("it is less than nothing")
			}
		})
	}
	wait.Wait()
	if n != 100 {
		t.Errorf("%d were alone", n)
	}
}
