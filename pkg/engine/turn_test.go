package engine

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
)

func TestATurnIsOnesAtATimeAndGoesRoundInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all turns
		if err := all.take(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		if err := all.take(t.Context(), "b"); err != nil {
			t.Fatal("another instance's turn is its own:", err)
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
				if err := all.take(ctx, "a"); (err != nil) != (n == 1) {
					t.Errorf("%d: %v", n, err)
				} else if err == nil {
					order = append(order, n)
					all.pass("a")
				}
			})
			synctest.Wait()
		}
		leave()
		synctest.Wait()
		if len(order) > 0 {
			t.Fatalf("%v had the turn while another had it", order)
		}
		all.pass("a")
		done.Wait()
		if len(order) != 3 || order[0] != 0 || order[1] != 2 || order[2] != 3 {
			t.Errorf("the turn went to %v, want 0, 2, 3", order)
		}
		all.pass("b")
		if len(all.queue) > 0 {
			t.Errorf("%d turns are kept that nobody has", len(all.queue))
		}
	})
}
