package eventstoretest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
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
	t.Run("returns what came since a commit that is known", func(t *testing.T) {
		s := open(t)
		var a []eventstore.Commit
		var lastA, lastB eventstore.Commit
		for range 5 {
			a = append(a, Grow(t, s, "a", 2, lastA)...)
			lastA = a[len(a)-1]
			lastB = Grow(t, s, "b", 1, lastB)[0]
		}
		for known := range len(a) + 1 {
			after := uint64(0)
			if known > 0 {
				after = a[known-1].Seq
			}
			got, err := s.Since(within(t), "a", after)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(a[known:], got, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("since %d (-want +got)\n%s", after, diff)
			}
		}
		if got, err := s.Since(within(t), "c", 0); err != nil || len(got) > 0 {
			t.Fatalf("of an instance that was never opened: %v, %v", got, err)
		}
		for _, of := range []struct {
			instance string
			after    uint64
		}{{"c", 1}, {"a", lastB.Seq - 3}, {"a", lastB.Seq + 1}} {
			if got, err := s.Since(within(t), of.instance, of.after); !errors.Is(err, eventstore.ErrCorrupt) {
				t.Fatalf("%s since %d, which is not its own: %v, %v", of.instance, of.after, got, err)
			}
		}
	})
	t.Run("returns a part of the past in pages", func(t *testing.T) {
		s := open(t)
		var a []eventstore.Commit
		var lastA, lastB eventstore.Commit
		for range 12 {
			a = append(a, Grow(t, s, "a", 2, lastA)...)
			lastA = a[len(a)-1]
			lastB = Grow(t, s, "b", 1, lastB)[0]
		}
		for _, after := range []uint64{0, 3, a[4].Seq, lastB.Seq + 1} {
			for _, p := range []eventstore.Part{
				{Size: 1}, {Size: 9 * len(a[0].Data)}, {Until: lastB.Seq / 2, Size: 1 << 20}, {Until: after, Size: 1 << 20},
				{Until: after + 2, Size: 1 << 20},
			} {
				var want, got []eventstore.Commit
				for _, c := range a {
					if c.Seq > after && !p.Beyond(c) {
						want = append(want, c)
					}
				}
				p.After = after
				for more := true; more; {
					page, others, err := s.Page(within(t), "a", p)
					if err != nil || others && len(page) == 0 {
						t.Fatalf("%+v: %d commits, others: %v, %v", p, len(page), others, err)
					}
					if size := dataOf(page[min(1, len(page)):]); size > p.Size {
						t.Fatalf("%+v: a page has %d bytes after its first commit", p, size)
					}
					got, more = append(got, page...), others
					if more {
						p.After = page[len(page)-1].Seq
					}
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("%+v (-want +got)\n%s", p, diff)
				}
			}
		}
		if _, _, err := s.Page(within(t), "c", eventstore.Part{Size: 1}); !errors.Is(err, eventstore.ErrUnknown) {
			t.Fatalf("of an instance that was never opened: %v", err)
		}
	})
	t.Run("gathers the commits at sequences", func(t *testing.T) {
		s := open(t)
		a := Grow(t, s, "a", 3, eventstore.Commit{})
		b := Grow(t, s, "b", 1, eventstore.Commit{})
		a = append(a, Grow(t, s, "a", 20, a[2])...)
		var seqs []uint64
		for _, c := range a {
			seqs = append(seqs, c.Seq)
		}
		got, err := s.Gather(within(t), "a", seqs)
		if diff := cmp.Diff(a, got); err != nil || diff != "" {
			t.Fatalf("%v (-want +got)\n%s", err, diff)
		}
		for _, wrong := range []uint64{b[0].Seq, 0, a[len(a)-1].Seq + 1} {
			if _, err := s.Gather(within(t), "a", []uint64{a[0].Seq, wrong}); !errors.Is(err, eventstore.ErrCorrupt) {
				t.Fatalf("at %d, which is not its own: %v", wrong, err)
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

func dataOf(commits []eventstore.Commit) (size int) {
	for _, c := range commits {
		size += len(c.Data)
	}
	return size
}
