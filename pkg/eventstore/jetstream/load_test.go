package jetstream_test

import (
	"context"
	"errors"
	"testing"

	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/eventstore"
	"github.com/signalbox/signalbox/pkg/eventstore/eventstoretest"
	"github.com/signalbox/signalbox/pkg/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/eventstore/natstest"
)

func TestALongHistory(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 10,000 commits")
	}
	store := open(t, natstest.Start(t, natstest.Options{}))
	want := eventstoretest.Grow(t, store, "a", 10_000, eventstore.Commit{})
	got, err := store.Load(t.Context(), "a")
	if err != nil || len(got) != len(want) || got[9_999].Chain != want[9_999].Chain {
		t.Fatalf("got %d commits, %v, want %d", len(got), err, len(want))
	}
}

// All at once they are more than the server keeps for one client: it would
// hang up, and take every other request on the connection with it.
func TestLargeCommits(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 200 MB")
	}
	const n = 200
	nc := natstest.Start(t, natstest.Options{}).Connect(t)
	js, err := natsjs.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	store, err := jetstream.Open(t.Context(), js, jetstream.Config{})
	if err != nil {
		t.Fatal(err)
	}
	var last eventstore.Commit
	for range n {
		c := eventstoretest.Next("a", "after"+last.Chain, last)
		c.Data = make([]byte, eventstore.MaxData)
		last = eventstoretest.Put(t, store, eventstoretest.Chained(last, c))
	}
	tail := eventstoretest.Follow(t, store, 1)
	var v eventstore.Verifier
	for want := uint64(1); want <= n; want++ {
		c := tail.Next(t)
		if err := v.Add(c); err != nil || c.Seq != want {
			t.Fatalf("got sequence %d, %v, want %d", c.Seq, err, want)
		}
	}
	if again := nc.Stats().Reconnects; again != 0 {
		t.Fatalf("the server hung up %d times", again)
	}
}

func BenchmarkRead(b *testing.B) {
	const n = 50_000
	store := open(b, natstest.Start(b, natstest.Options{}))
	for w := range 50 {
		eventstoretest.Grow(b, store, "i"+string(rune('A'+w)), n/50, eventstore.Commit{})
	}
	enough := errors.New("caught up")
	for b.Loop() {
		ctx, cancel := context.WithCancelCause(b.Context())
		if err := store.Read(ctx, 1, func(eventstore.Commit) error { return nil }, func() { cancel(enough) }); !errors.Is(context.Cause(ctx), enough) {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "commits/s")
}
