package eventstoretest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
)

// Intrude writes a message that is no commit to the log, as another program would.
type Intrude func(subject string, data []byte)

// RunForeign checks that a message which is no commit is set aside wherever it comes.
func RunForeign(t *testing.T, open func(*testing.T) (eventstore.Store, Intrude)) {
	const of = "sb.evt.note.issue.received." // and the instance
	t.Run("Read passes it in its place and goes on", func(t *testing.T) {
		s, intrude := open(t)
		first := Grow(t, s, "a", 2, eventstore.Commit{})
		intrude("sb.evt.junk", []byte("\x1b[2Jhm"))
		tail := Follow(t, s, 1)
		expect(t, tail, first)
		foreign := tail.Next(t)
		if f := foreign.Foreign; f == nil || foreign.Seq != 3 || f.Subject != "sb.evt.junk" || f.Size != 6 || f.First != `"\x1b[2Jhm"` {
			t.Fatalf("got %+v, %+v", foreign, foreign.Foreign)
		}
		if n := tail.CaughtUp(t); n != 3 {
			t.Errorf("caught up after %d", n)
		}
		intrude(of+"a", nil) // while it follows
		if c := tail.Next(t); c.Foreign == nil || c.Seq != 4 || c.Chain == foreign.Chain {
			t.Fatalf("got %+v", c)
		}
		expect(t, tail, Grow(t, s, "b", 1, eventstore.Commit{}))
		expect(t, tail, Grow(t, s, "a", 2, first[1]))
		if head, err := s.Head(within(t)); err != nil || head != 7 {
			t.Errorf("the head is %d, %v", head, err)
		}
		again := Follow(t, s, 3) // begins with one, as after a snapshot
		if c := again.Next(t); c.Chain != foreign.Chain {
			t.Errorf("it is another when it is read again: %+v", c)
		}
	})
	t.Run("an instance goes on after it, and has commits only", func(t *testing.T) {
		s, intrude := open(t)
		var want []eventstore.Commit
		var last eventstore.Commit
		for range 3 {
			intrude(of+"a", []byte("hm"))
			intrude("sb.evt.x.y.z.a", []byte("no event at all"))
			if got, err := s.Last(within(t), "a"); len(want) == 0 && !errors.Is(err, eventstore.ErrUnknown) || len(want) > 0 && got.Seq != last.Seq {
				t.Fatalf("the last is %+v, %v, want %d", got, err, last.Seq)
			}
			grown := Grow(t, s, "a", 2, last)
			want, last = append(want, grown...), grown[1]
		}
		intrude(of+"a", nil)
		got, err := s.Load(within(t), "a")
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Fatalf("Load: %v (-want +got)\n%s", err, diff)
		}
		got, err = s.Since(within(t), "a", want[2].Seq)
		if diff := cmp.Diff(want[3:], got); err != nil || diff != "" {
			t.Fatalf("Since: %v (-want +got)\n%s", err, diff)
		}
		if _, err := s.Since(within(t), "a", 1); !errors.Is(err, eventstore.ErrCorrupt) {
			t.Errorf("from a sequence that is no commit: %v", err)
		}
	})
	t.Run("one with nothing else on its subjects is no instance", func(t *testing.T) {
		s, intrude := open(t)
		intrude(of+"a", nil)
		for name, read := range map[string]func() error{
			"Last": func() error { _, err := s.Last(within(t), "a"); return err },
			"Load": func() error { _, err := s.Load(within(t), "a"); return err },
		} {
			if err := read(); !errors.Is(err, eventstore.ErrUnknown) {
				t.Errorf("%s: got %v, want ErrUnknown", name, err)
			}
		}
	})
	t.Run("an append that is late is refused all the same", func(t *testing.T) {
		s, intrude := open(t)
		first := Grow(t, s, "a", 1, eventstore.Commit{})
		intrude(of+"a", nil)
		second := Put(t, s, Next("a", "second", first[0]))
		intrude(of+"a", nil)
		if _, err := s.Append(within(t), Next("a", "late", first[0])); !errors.Is(err, eventstore.ErrConflict) {
			t.Errorf("after a commit that is not the newest: %v", err)
		}
		if seq, err := s.Append(within(t), Next("a", "second", first[0])); err != nil || seq != second.Seq {
			t.Errorf("the same again: %d, %v, want %d", seq, err, second.Seq)
		}
		Put(t, s, Next("a", "third", second))
	})
	t.Run("a long history is read past many", func(t *testing.T) {
		s, intrude := open(t)
		var want []eventstore.Commit
		last := eventstore.Commit{}
		for range 30 {
			grown := Grow(t, s, "a", 10, last)
			want, last = append(want, grown...), grown[9]
			intrude(of+"a", []byte("hm"))
		}
		got, err := s.Load(within(t), "a")
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Fatalf("%v (-want +got)\n%s", err, diff)
		}
	})
	t.Run("none is lost that is appended meanwhile", func(t *testing.T) {
		s, intrude := open(t)
		ctx, stop := context.WithCancel(within(t))
		done := make(chan struct{})
		go func() {
			defer close(done)
			for n := 0; n < 200 && ctx.Err() == nil; n++ {
				intrude(of+"a", fmt.Appendf(nil, "%d", n))
			}
		}()
		want := Grow(t, s, "a", 40, eventstore.Commit{})
		stop()
		<-done
		got, err := s.Load(within(t), "a")
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Fatalf("%v (-want +got)\n%s", err, diff)
		}
	})
}
