package eventstoretest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/pkg/eventstore"
)

func runLoad(t *testing.T, open func(*testing.T) eventstore.Store) {
	t.Run("rebuilds an instance among others, oldest commit first", func(t *testing.T) {
		s := open(t)
		var a, b []eventstore.Commit
		var lastA, lastB eventstore.Commit
		for range 40 {
			a = append(a, Grow(t, s, "a", 1, lastA)...)
			b = append(b, Grow(t, s, "b", 2, lastB)...)
			lastA, lastB = a[len(a)-1], b[len(b)-1]
		}
		for instance, want := range map[string][]eventstore.Commit{"a": a, "b": b} {
			got, err := s.Load(within(t), instance)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%s (-want +got)\n%s", instance, diff)
			}
			if last, err := s.Last(within(t), instance); err != nil || !cmp.Equal(last, want[len(want)-1]) {
				t.Fatalf("Last: got %+v, %v", last, err)
			}
		}
	})
	t.Run("does not know an instance that was never opened", func(t *testing.T) {
		s := open(t)
		Grow(t, s, "a", 1, eventstore.Commit{})
		for _, instance := range []string{"b", "", "*", strings.Repeat("x", 300), "\xff"} {
			if _, err := s.Load(within(t), instance); !errors.Is(err, eventstore.ErrUnknown) {
				t.Fatalf("Load %q: got %v, want ErrUnknown", instance, err)
			}
			if _, err := s.Last(within(t), instance); !errors.Is(err, eventstore.ErrUnknown) {
				t.Fatalf("Last %q: got %v, want ErrUnknown", instance, err)
			}
		}
	})
	t.Run("refuses a broken chain", func(t *testing.T) {
		s := open(t)
		first := Put(t, s, Next("a", "x", eventstore.Commit{}))
		c := Next("a", "y", first)
		c.Chain = strings.Repeat("0", 64)
		Put(t, s, c)
		if _, err := s.Load(within(t), "a"); !errors.Is(err, eventstore.ErrCorrupt) || !strings.Contains(err.Error(), "sequence 2") {
			t.Fatalf("got %v, want ErrCorrupt at sequence 2", err)
		}
	})
	t.Run("ends with its context", func(t *testing.T) {
		s := open(t)
		Grow(t, s, "a", 2, eventstore.Commit{})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.Load(ctx, "a"); !errors.Is(err, context.Canceled) {
			t.Fatalf("Load: got %v, want context.Canceled", err)
		}
		if _, err := s.Last(ctx, "a"); !errors.Is(err, context.Canceled) {
			t.Fatalf("Last: got %v, want context.Canceled", err)
		}
	})
}
