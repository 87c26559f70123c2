package jetstream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/nats-io/nats.go"
	natsjs "github.com/nats-io/nats.go/jetstream"
)

// fakeServer is a groupCommit in front of a server that is not there.
type fakeServer struct {
	groupCommit
	refuse func(batch []string) error // nil: takes them all
	door   chan struct{}              // an append called "slow" waits here, and so does each batch

	mu      sync.Mutex
	batches [][]string
	alone   []string
}

func newFakeServer() *fakeServer {
	f := &fakeServer{door: make(chan struct{})}
	f.batch = func(ctx context.Context, messages []*nats.Msg) (uint64, error) {
		names := make([]string, len(messages))
		for i, m := range messages {
			names[i] = m.Subject
		}
		f.mu.Lock()
		f.batches = append(f.batches, names)
		f.mu.Unlock()
		select {
		case <-f.door:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
		if f.refuse != nil {
			if err := f.refuse(names); err != nil {
				return 0, err
			}
		}
		return 100, nil
	}
	return f
}

// add appends the message called name to instance, which its first byte names.
func (f *fakeServer) add(ctx context.Context, name string, fits bool) error {
	_, err := f.append(ctx, pendingAppend{
		instance: name[:1], msg: &nats.Msg{Subject: name},
		alone: func(ctx context.Context) (uint64, error) {
			if ctx.Err() != nil {
				return 0, ctx.Err()
			}
			f.mu.Lock()
			f.alone = append(f.alone, name)
			f.mu.Unlock()
			if name == "slow" {
				<-f.door
			}
			return 1, nil
		},
		fits: func(context.Context) bool { return fits },
	})
	return err
}

// letter returns the name of the i-th instance: one byte.
func letter(i int) string { return string(rune('A' + i)) }

func TestAGroup(t *testing.T) {
	bubble := func(name string, run func(t *testing.T, f *fakeServer, start func(name string, fits bool) context.CancelFunc)) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFakeServer()
				run(t, f, func(name string, fits bool) context.CancelFunc {
					ctx, cancel := context.WithCancel(t.Context())
					go func() {
						if err := f.add(ctx, name, fits); err != nil && !errors.Is(err, context.Canceled) {
							t.Errorf("%s: %v", name, err)
						}
					}()
					synctest.Wait()
					return cancel
				})
				synctest.Wait()
				if f.queue.inFlight != 0 || len(f.queue.waiting) != 0 {
					t.Errorf("%d in flight, %d wait", f.queue.inFlight, len(f.queue.waiting))
				}
			})
		})
	}
	open := func(f *fakeServer) { f.door <- struct{}{}; synctest.Wait() }
	expect := func(t *testing.T, what string, got, want int) {
		t.Helper()
		if got != want {
			t.Fatalf("%s: %d, want %d", what, got, want)
		}
	}
	bubble("sends one that comes alone at once", func(t *testing.T, f *fakeServer, start func(string, bool) context.CancelFunc) {
		for range 3 {
			start("A", true)
		}
		expect(t, "alone", len(f.alone), 3)
	})
	bubble("sends those that come meanwhile together, at most one of an instance", func(t *testing.T, f *fakeServer, start func(string, bool) context.CancelFunc) {
		start("slow", true)
		for i := range minBatch {
			start(letter(i), true)
			start(letter(i), true)
		}
		expect(t, "alone", len(f.alone), 1)
		open(f)
		open(f)
		open(f)
		expect(t, "batches", len(f.batches), 2)
		for _, batch := range f.batches {
			expect(t, "in a batch", len(slices.Compact(slices.Sorted(slices.Values(batch)))), minBatch)
		}
	})
	bubble("sends a few one by one", func(t *testing.T, f *fakeServer, start func(string, bool) context.CancelFunc) {
		start("slow", true)
		for i := range minBatch - 1 {
			start(letter(i), true)
		}
		open(f)
		expect(t, "alone", len(f.alone), minBatch)
	})
	for _, code := range []int{10071, 10164, 10201} {
		bubble(fmt.Sprintf("sends those not to blame for refusal %d together once more", code), func(t *testing.T, f *fakeServer, start func(string, bool) context.CancelFunc) {
			f.refuse = func(batch []string) error {
				if slices.Contains(batch, "Bad") {
					return api(code)
				}
				return nil
			}
			start("slow", true)
			start("Bad", false)
			start("s", true)
			start("slow", true) // is next, for an instance is in a batch once
			for i := range minBatch {
				start(letter(i+2), true)
			}
			open(f)
			open(f) // the batch: refused
			open(f) // the second slow one
			expect(t, "batches", len(f.batches), 2)
			expect(t, "in the second", len(f.batches[1]), minBatch+1)
			if slices.Contains(f.batches[1], "Bad") || !slices.Contains(f.alone, "Bad") {
				t.Fatalf("%v, alone %v", f.batches, f.alone)
			}
			open(f)
		})
	}
	bubble("sends each alone if nobody knows what became of the batch", func(t *testing.T, f *fakeServer, start func(string, bool) context.CancelFunc) {
		f.refuse = func([]string) error { return natsjs.ErrNoStreamResponse }
		start("slow", true)
		for i := range minBatch {
			start(letter(i), true)
		}
		open(f)
		open(f)
		expect(t, "batches", len(f.batches), 1)
		expect(t, "alone", len(f.alone), minBatch+1)
	})
	bubble("does not send for who gave up waiting", func(t *testing.T, f *fakeServer, start func(string, bool) context.CancelFunc) {
		start("slow", true)
		start("Aa", true)()
		for i := range minBatch {
			start(letter(i), true)
		}
		open(f)
		open(f)
		if slices.Contains(f.batches[0], "Aa") || len(f.batches[0]) != minBatch {
			t.Fatalf("sent %v", f.batches)
		}
	})
	bubble("sends each alone if who sends for all gives up", func(t *testing.T, f *fakeServer, start func(string, bool) context.CancelFunc) {
		start("slow", true)
		giveUp := start("A", true)
		for i := range minBatch {
			start(letter(i+1), true)
		}
		open(f)
		giveUp()
		synctest.Wait()
		expect(t, "batches", len(f.batches), 1)
		expect(t, "alone", len(f.alone), minBatch+1)
	})
}

func TestWhatGoesTogether(t *testing.T) {
	add := func(g *groupCommit, n, size int) {
		for i := range n {
			g.queue.waiting = append(g.queue.waiting, &request{pendingAppend: pendingAppend{instance: fmt.Sprint(i), msg: &nats.Msg{Data: make([]byte, size)}}})
		}
	}
	for _, c := range []struct {
		name          string
		n, size, want int
	}{
		{"all that wait", 10, 1000, 10},
		{"no more than a batch may have", maxBatch + 5, 1, maxBatch},
		{"no more bytes than are good", 8, maxBatchBytes/4 + 1, 3},
		{"one that alone has more", 2, maxBatchBytes + 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := &groupCommit{}
			add(g, c.n, c.size)
			if got := g.queue.collect(); len(got) != c.want || len(g.queue.waiting) != c.n-c.want {
				t.Fatalf("took %d of %d, left %d, want %d", len(got), c.n, len(g.queue.waiting), c.want)
			}
		})
	}
}

// A grant that comes at the same moment as its request's context ends is not lost.
func TestAGrantOfACancelledRequestIsTheNextOnes(t *testing.T) {
	g := &groupCommit{queue: groupQueue{inFlight: 1}}
	requests := make([]*request, 3)
	for i := range requests {
		requests[i] = &request{granted: make(chan grant, 1)}
	}
	requests[0].granted <- grant{batch: requests}
	g.cancel(requests[0])
	g.cancel(requests[1])
	if g.cancel(requests[2]); g.queue.inFlight != 0 {
		t.Fatalf("%d in flight, want none", g.queue.inFlight)
	}
}

// In a cluster without a leader all that wait give up at about the same time.
func TestAGrantIsHandedOverWhenItsRequestIsCancelled(t *testing.T) {
	g := &groupCommit{}
	enter := func(n int) *request {
		return g.enter(pendingAppend{instance: fmt.Sprint(n), msg: &nats.Msg{Subject: "a"}})
	}
	if enter(0) != nil {
		t.Fatal("something is in flight")
	}
	var waiting []*request
	for n := range minBatch {
		waiting = append(waiting, enter(n+1))
	}
	g.leave()
	g.cancel(waiting[1])
	g.cancel(waiting[0])
	granted := <-waiting[2].granted
	if len(granted.batch) != minBatch-2 || granted.batch[0] != waiting[2] {
		t.Fatalf("it is granted %d, want %d, itself first", len(granted.batch), minBatch-2)
	}
	waiting[2].granted <- granted
	for i := range waiting {
		g.cancel(waiting[len(waiting)-1-i])
	}
	if enter(99) != nil {
		t.Error("all are cancelled, and no append is sent")
	}
}
