package jetstream_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/eventstoretest"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
)

func TestALongHistory(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 3,000 commits")
	}
	const n = 2900
	store := open(t, natstest.Start(t, natstest.Options{}))
	other := eventstoretest.Grow(t, store, "b", 1, eventstore.Commit{})
	want := eventstoretest.Grow(t, store, "a", n/2, eventstore.Commit{})
	more := eventstoretest.Grow(t, store, "b", 50, other[0])
	want = append(want, eventstoretest.Grow(t, store, "a", n/2, want[n/2-1])...)
	t.Run("is loaded", func(t *testing.T) {
		got, err := store.Load(t.Context(), "a")
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Fatalf("%v (-want +got)\n%s", err, diff)
		}
	})
	for _, known := range []int{1, 50, n/2 - 1, n / 2, n - 300} {
		t.Run(fmt.Sprintf("is loaded from its commit %d on", known), func(t *testing.T) {
			got, err := store.Since(t.Context(), "a", want[known-1].Seq)
			if diff := cmp.Diff(want[known:], got); err != nil || diff != "" {
				t.Fatalf("%v (-want +got)\n%s", err, diff)
			}
		})
	}
	for _, foreign := range []uint64{other[0].Seq, more[20].Seq} {
		t.Run(fmt.Sprintf("is refused from sequence %d on, which is another's", foreign), func(t *testing.T) {
			if got, err := store.Since(t.Context(), "a", foreign); !errors.Is(err, eventstore.ErrCorrupt) {
				t.Fatalf("got %d commits, %v, want ErrCorrupt", len(got), err)
			}
		})
	}
}

// What is missing far back is found by the reader that does not walk.
func TestALongHistoryWithAHole(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	store := open(t, server)
	first := eventstoretest.Grow(t, store, "a", 3, eventstore.Commit{})
	hole := write(t, store, "a", "the hole", first[2])
	eventstoretest.Grow(t, store, "a", 300, hole)
	server.Stop()
	flip(t, server.Dir, "the hole")
	server.Resume(t)
	if _, err := store.Load(t.Context(), "a"); !errors.Is(err, eventstore.ErrCorrupt) || !strings.Contains(err.Error(), "sequence 5") {
		t.Fatalf("got %v, want ErrCorrupt at sequence 5", err)
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

// The log against the fastest that the client library reads a stream.
func BenchmarkRead(b *testing.B) {
	const writers, each = 64, 1600
	server := natstest.Start(b, natstest.Options{})
	js := server.JetStream(b)
	store, err := jetstream.Open(b.Context(), js, jetstream.Config{Sync: time.Minute})
	if err != nil {
		b.Fatal(err)
	}
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() { eventstoretest.Grow(b, store, fmt.Sprintf("acme/widgets/%d", w), each, eventstore.Commit{}) })
	}
	wg.Wait()
	rate := func(b *testing.B) {
		b.ReportMetric(float64(writers*each*b.N)/b.Elapsed().Seconds(), "commits/s")
	}
	b.Run("raw", func(b *testing.B) {
		for b.Loop() {
			consumer, err := js.OrderedConsumer(b.Context(), "EVENTS", natsjs.OrderedConsumerConfig{})
			if err != nil {
				b.Fatal(err)
			}
			messages, err := consumer.Messages(natsjs.PullMaxMessages(5000))
			if err != nil {
				b.Fatal(err)
			}
			for range writers * each {
				if _, err := messages.Next(); err != nil {
					b.Fatal(err)
				}
			}
			messages.Stop()
		}
		rate(b)
	})
	b.Run("store", func(b *testing.B) {
		enough := errors.New("caught up")
		for b.Loop() {
			ctx, cancel := context.WithCancelCause(b.Context())
			if err := store.Read(ctx, 1, func(eventstore.Commit) error { return nil }, func() { cancel(enough) }); !errors.Is(context.Cause(ctx), enough) {
				b.Fatal(err)
			}
		}
		rate(b)
	})
}
