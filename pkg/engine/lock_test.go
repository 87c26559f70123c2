package engine

import (
	"context"
	"errors"
	"math"
	"sync"
	"testing"
	"testing/synctest"
)

func lock(ctx context.Context, l sharedLock, alone bool) error {
	if alone {
		return l.Lock(ctx)
	}
	return l.RLock(ctx)
}

func unlock(l sharedLock, alone bool) {
	if alone {
		l.Unlock()
	} else {
		l.RUnlock()
	}
}

func TestASharedLockIsLockedTogetherOrAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newSharedLock()
		var order []string
		enter := func(name string, alone bool) (leave func()) {
			hold, held := make(chan struct{}), make(chan struct{})
			go func() {
				if err := lock(t.Context(), g, alone); err != nil {
					t.Error(err)
				}
				order = append(order, name)
				<-hold
				unlock(g, alone)
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
		if !g.sem.TryAcquire(math.MaxInt64) {
			t.Error("it is not free in the end")
		}
	})
}

func TestWhoGivesUpAtASharedLockHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newSharedLock()
		if err := g.RLock(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		gaveUp, entered := make(chan error), make(chan error, 1)
		go func() { gaveUp <- g.Lock(ctx) }()
		synctest.Wait()
		go func() { entered <- g.RLock(t.Context()) }()
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
		g.RUnlock()
		g.RUnlock()
		if !g.sem.TryAcquire(math.MaxInt64) {
			t.Error("it is not free in the end")
		}
	})
}

// Those who are alone may write what the others read.
func TestNobodyIsInsideWithOneAlone(t *testing.T) {
	g := newSharedLock()
	var wait sync.WaitGroup
	n := 0
	for i := range 300 {
		wait.Go(func() {
			alone := i%3 == 0
			if err := lock(t.Context(), g, alone); err != nil {
				t.Error(err)
				return
			}
			defer unlock(g, alone)
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

func TestAKeyIsLockedByOneAtATimeInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all keyedMutex
		if err := all.Lock(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		if err := all.Lock(t.Context(), "b"); err != nil {
			t.Fatal("another instance's lock is its own:", err)
		}
		impatient, leave := context.WithCancel(t.Context())
		var order []int
		var done sync.WaitGroup
		for n := range 4 {
			ctx := t.Context()
			if n == 1 {
				ctx = impatient
			}
			done.Go(func() {
				if err := all.Lock(ctx, "a"); (err != nil) != (n == 1) {
					t.Errorf("%d: %v", n, err)
				} else if err == nil {
					order = append(order, n)
					all.Unlock("a")
				}
			})
			synctest.Wait()
		}
		leave()
		synctest.Wait()
		if len(order) > 0 {
			t.Fatalf("%v had the lock while another had it", order)
		}
		all.Unlock("a")
		done.Wait()
		if len(order) != 3 || order[0] != 0 || order[1] != 2 || order[2] != 3 {
			t.Errorf("the lock went to %v, want 0, 2, 3", order)
		}
		all.Unlock("b")
		if len(all.keys) > 0 {
			t.Errorf("%d keys are kept that are not locked", len(all.keys))
		}
	})
}
