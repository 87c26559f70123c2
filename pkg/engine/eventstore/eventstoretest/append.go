package eventstoretest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
)

func runAppend(t *testing.T, open func(*testing.T) eventstore.Store) {
	t.Run("keeps every field", func(t *testing.T) {
		s := open(t)
		first := Put(t, s, Next("acme/widgets/42", "first", eventstore.Commit{}))
		want := Put(t, s, Chained(first, eventstore.Commit{
			ID: "01J-second_(x)", Workflow: "task", State: "human_input-2", Instance: "acme/widgets/42",
			Time: time.Date(2026, 2, 3, 4, 5, 6, 1, time.FixedZone("east", 3600)), Data: []byte("\x00{}\xff"),
			Trace: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
		}))
		asked := Next("acme/widgets/42", "third", want)
		asked.State = "@git-manager"
		asked = Put(t, s, Chained(want, asked))
		got, err := s.Load(within(t), "acme/widgets/42")
		if err != nil {
			t.Fatal(err)
		}
		want.Time = want.Time.UTC()
		if diff := cmp.Diff([]eventstore.Commit{first, want, asked}, got); diff != "" {
			t.Fatalf("(-want +got)\n%s", diff)
		}
	})
	t.Run("takes empty data", func(t *testing.T) {
		s := open(t)
		c := Next("a", "x", eventstore.Commit{})
		c.Data = nil
		c = Put(t, s, Chained(eventstore.Commit{}, c))
		if got, err := s.Last(within(t), "a"); err != nil || len(got.Data) != 0 || got.Chain != c.Chain {
			t.Fatalf("got %+v, %v", got, err)
		}
	})
	t.Run("takes the most data and gives it back", func(t *testing.T) {
		s := open(t)
		c := Next(strings.Repeat(".", 200), "x", eventstore.Commit{})
		c.Data = []byte(strings.Repeat("x", eventstore.MaxData))
		Put(t, s, Chained(eventstore.Commit{}, c))
		if got, err := s.Load(within(t), c.Instance); err != nil || string(got[0].Data) != string(c.Data) {
			t.Fatalf("got %d commits, %v", len(got), err)
		}
	})
	t.Run("keeps its own copy of the data", func(t *testing.T) {
		s := open(t)
		c := Put(t, s, Next("a", "x", eventstore.Commit{}))
		c.Data[0] = '!'
		got, err := s.Last(within(t), "a")
		if err != nil || got.Data[0] == '!' {
			t.Fatalf("got %q, %v", got.Data, err)
		}
	})
	t.Run("lets exactly one of 64 racers win each round", func(t *testing.T) { race(t, open(t)) })
	t.Run("refuses", func(t *testing.T) { refusals(t, open) })
	t.Run("knows its own commit when it is appended again", func(t *testing.T) {
		s := open(t)
		cs := Grow(t, s, "a", 5, eventstore.Commit{})
		Grow(t, s, "b", 3, eventstore.Commit{})
		for i, c := range cs {
			again := c
			again.Seq = 0
			if seq, err := s.Append(within(t), again); err != nil || seq != c.Seq {
				t.Fatalf("commit %d of 5 again: got %d, %v, want %d", i, seq, err, c.Seq)
			}
		}
		if got, err := s.Load(within(t), "a"); err != nil || len(got) != len(cs) {
			t.Fatalf("stored %d commits, %v, want %d", len(got), err, len(cs))
		}
	})
	t.Run("keeps instances apart whatever their ids", func(t *testing.T) {
		s := open(t)
		ids := []string{"a", "a.b", "a.*", "*", ">", "a b", "a/b", "=2E", ".", "größe/1", "a\tb\r\nc", "$JS", "%2E", "A"}
		want := map[string][]eventstore.Commit{}
		for range 2 {
			for _, id := range ids {
				var prev eventstore.Commit
				if n := len(want[id]); n > 0 {
					prev = want[id][n-1]
				}
				want[id] = append(want[id], Grow(t, s, id, 1, prev)...)
			}
		}
		for _, id := range ids {
			got, err := s.Load(within(t), id)
			if err != nil {
				t.Fatalf("%q: %v", id, err)
			}
			if diff := cmp.Diff(want[id], got); diff != "" {
				t.Fatalf("%q (-want +got)\n%s", id, diff)
			}
		}
	})
	t.Run("ends with its context", func(t *testing.T) {
		s := open(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.Append(ctx, Next("a", "x", eventstore.Commit{})); !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v, want context.Canceled", err)
		}
	})
}

func refusals(t *testing.T, open func(*testing.T) eventstore.Store) {
	s := open(t)
	cs := Grow(t, s, "a", 3, eventstore.Commit{})
	nobody := eventstore.Commit{Seq: 1 << 40}
	for _, c := range []struct {
		name   string
		commit eventstore.Commit
		want   []error
	}{
		{"a stale predecessor", Next("a", "n1", cs[0]), []error{eventstore.ErrConflict}},
		{"a predecessor yet to come", Next("a", "n2", nobody), []error{eventstore.ErrConflict}},
		{"a second opening", Next("a", "n3", eventstore.Commit{}), []error{eventstore.ErrConflict}},
		{"a predecessor of an instance never opened", Next("b", "n4", cs[2]), []error{eventstore.ErrConflict}},
		{"an id spent on other content", Next("a", cs[1].ID, cs[0]), []error{eventstore.ErrConflict, eventstore.ErrDuplicate}},
		{"an id spent further back", Next("a", cs[1].ID, cs[2]), []error{eventstore.ErrConflict, eventstore.ErrDuplicate}},
		{"an id spent on another instance", Next("c", cs[1].ID, eventstore.Commit{}), []error{eventstore.ErrConflict, eventstore.ErrDuplicate}},
		{"a commit without an id", Next("a", "", cs[2]), []error{eventstore.ErrInvalid}},
		{"a megabyte", func() eventstore.Commit {
			big := Next("a", "n5", cs[2])
			big.Data = make([]byte, 1<<20)
			return Chained(cs[2], big)
		}(), []error{eventstore.ErrTooLarge}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := s.Append(within(t), c.commit)
			for _, want := range c.want {
				if !errors.Is(err, want) {
					t.Fatalf("got %v, want %v", err, want)
				}
			}
		})
	}
	if got, err := s.Load(within(t), "a"); err != nil || len(got) != len(cs) {
		t.Fatalf("a refused commit was stored: %d commits, %v, want %d", len(got), err, len(cs))
	}
}

func race(t *testing.T, s eventstore.Store) {
	const racers, rounds = 64, 10
	var last eventstore.Commit
	for round := range rounds {
		won := make([]eventstore.Commit, racers)
		errs := make([]error, racers)
		ready := make(chan struct{})
		var wg sync.WaitGroup
		for i := range racers {
			wg.Go(func() {
				c := Next("a", fmt.Sprintf("round-%d-racer-%d", round, i), last)
				<-ready
				c.Seq, errs[i] = s.Append(within(t), c)
				won[i] = c
			})
		}
		close(ready)
		wg.Wait()
		winners := 0
		for i, err := range errs {
			switch {
			case err == nil:
				winners++
				last = won[i]
			case !errors.Is(err, eventstore.ErrConflict) || errors.Is(err, eventstore.ErrDuplicate):
				t.Fatalf("round %d: got %v, want ErrConflict alone", round, err)
			}
		}
		if winners != 1 {
			t.Fatalf("round %d has %d winners, want 1", round, winners)
		}
	}
	cs, err := s.Load(within(t), "a")
	if err != nil || len(cs) != rounds || cs[rounds-1].ID != last.ID {
		t.Fatalf("the log has %d commits, %v, want %d, the last %s", len(cs), err, rounds, last.ID)
	}
}

// BenchmarkAppend measures appends to s, which must be empty: one writer, then
// 64 at a time, each with an instance of its own.
func BenchmarkAppend(b *testing.B, s eventstore.Store) {
	data := []byte(strings.Repeat("x", 300))
	write := func(b *testing.B, instance string, more func() bool) {
		var last eventstore.Commit
		for i := 0; more(); i++ {
			c := Next(instance, instance+"-"+strconv.Itoa(i), last)
			c.Data = data
			c = Chained(last, c)
			var err error
			if c.Seq, err = s.Append(b.Context(), c); err != nil {
				b.Error(err)
				return
			}
			last = c
		}
	}
	runs := 0 // a benchmark is run several times over one store
	b.Run("one", func(b *testing.B) {
		runs++
		write(b, fmt.Sprintf("one-%d", runs), b.Loop)
	})
	b.Run("64", func(b *testing.B) {
		runs++
		var wg sync.WaitGroup
		b.ResetTimer()
		for w := range 64 {
			wg.Go(func() {
				left := b.N / 64
				if w < b.N%64 {
					left++
				}
				write(b, fmt.Sprintf("many-%d-%d", runs, w), func() bool { left--; return left >= 0 })
			})
		}
		wg.Wait()
	})
}
