package eventstoretest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
)

func runRead(t *testing.T, open func(*testing.T) eventstore.Store) {
	t.Run("gives every commit in order, from the beginning", func(t *testing.T) {
		s := open(t)
		want := append(Grow(t, s, "a", 3, eventstore.Commit{}), Grow(t, s, "b", 3, eventstore.Commit{})...)
		for _, from := range []uint64{0, 1} {
			expect(t, Follow(t, s, from), want)
		}
	})
	t.Run("gives a long log as it gives a short one, and ends anywhere in it", func(t *testing.T) {
		s := open(t)
		const n = 700
		want := Grow(t, s, "a", n, eventstore.Commit{})
		tail := Follow(t, s, 1)
		expect(t, tail, want)
		if got := tail.CaughtUp(t); got != n {
			t.Fatalf("caught up after %d commits, want %d", got, n)
		}
		expect(t, tail, Grow(t, s, "a", 3, want[n-1]))
		errEnough := errors.New("enough")
		for _, last := range []uint64{1, 300, n} {
			err := s.Read(within(t), 1, func(c eventstore.Commit) error {
				if c.Seq == last {
					return errEnough
				}
				return nil
			}, nil)
			if !errors.Is(err, errEnough) {
				t.Fatalf("got %v at %d, want %v", err, last, errEnough)
			}
		}
	})
	t.Run("ends at the head", func(t *testing.T) {
		s := open(t)
		for want := range uint64(3) {
			if head, err := s.Head(within(t)); err != nil || head != want {
				t.Fatalf("got head %d, %v, want %d", head, err, want)
			}
			Grow(t, s, "i"+strconv.FormatUint(want, 10), 1, eventstore.Commit{})
		}
	})
	t.Run("starts in the middle", func(t *testing.T) {
		s := open(t)
		want := Grow(t, s, "a", 6, eventstore.Commit{})
		expect(t, Follow(t, s, 4), want[3:])
	})
	for from, read := range map[uint64]int{1: 5, 5: 1, 6: 0} {
		t.Run(fmt.Sprintf("is caught up once, with %d commits, from %d of 5", read, from), func(t *testing.T) {
			s := open(t)
			old := Grow(t, s, "a", 5, eventstore.Commit{})
			tail := Follow(t, s, from)
			expect(t, tail, old[from-1:])
			if got := tail.CaughtUp(t); got != read {
				t.Fatalf("caught up after %d commits, want %d", got, read)
			}
			expect(t, tail, Grow(t, s, "b", 3, eventstore.Commit{}))
			if err := tail.Stop(t); !errors.Is(err, context.Canceled) {
				t.Fatalf("got %v, want context.Canceled", err)
			}
			if n := len(tail.caught); n != 0 {
				t.Fatalf("caught up %d times more", n)
			}
		})
	}
	t.Run("is caught up at once on an empty log and sees what comes", func(t *testing.T) {
		s := open(t)
		tail := Follow(t, s, 1)
		if got := tail.CaughtUp(t); got != 0 {
			t.Fatalf("caught up after %d commits, want 0", got)
		}
		var last eventstore.Commit
		for range 3 {
			c := Grow(t, s, "a", 1, last)
			expect(t, tail, c)
			last = c[0]
		}
	})
	t.Run("sees commits of many writers without a gap", func(t *testing.T) {
		s := open(t)
		tail := Follow(t, s, 1)
		const writers, each = 8, 25
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				var c eventstore.Commit
				for i := range each {
					c = Next("w"+strconv.Itoa(w), fmt.Sprintf("w%d-%d", w, i), c)
					var err error
					if c.Seq, err = s.Append(within(t), c); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		var v eventstore.Verifier
		for want := uint64(1); want <= writers*each; want++ {
			c := tail.Next(t)
			if c.Seq != want {
				t.Errorf("got sequence %d, want %d", c.Seq, want)
			}
			if err := v.Add(c); err != nil {
				t.Error(err)
			}
		}
		wg.Wait()
	})
	t.Run("ends with the error of its function", func(t *testing.T) {
		s := open(t)
		Grow(t, s, "a", 3, eventstore.Commit{})
		errEnough := errors.New("enough")
		n := 0
		err := s.Read(within(t), 1, func(eventstore.Commit) error {
			if n++; n == 2 {
				return errEnough
			}
			return nil
		}, func() { t.Error("caught up although two of three were read") })
		if !errors.Is(err, errEnough) || n != 2 {
			t.Fatalf("got %v after %d commits, want %v after 2", err, n, errEnough)
		}
	})
	t.Run("refuses a log that ends before what was read of it", func(t *testing.T) {
		s := open(t)
		Grow(t, s, "a", 3, eventstore.Commit{})
		if err := Follow(t, s, 5).End(t); !errors.Is(err, eventstore.ErrCorrupt) {
			t.Fatalf("got %v, want ErrCorrupt", err)
		}
	})
}

func expect(t *testing.T, tail *Tail, want []eventstore.Commit) {
	t.Helper()
	for _, w := range want {
		if diff := cmp.Diff(w, tail.Next(t)); diff != "" {
			t.Fatalf("(-want +got)\n%s", diff)
		}
	}
}
