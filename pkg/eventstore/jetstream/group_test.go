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

// desk is a group in front of a server that is not there.
type desk struct {
	group
	refuse func(batch []string) error // nil: takes them all
	door   chan struct{}              // an append called "slow" waits here, and so does each batch

	mu      sync.Mutex
	batches [][]string
	alone   []string
}

func newDesk() *desk {
	d := &desk{door: make(chan struct{})}
	d.batch = func(ctx context.Context, messages []*nats.Msg) (uint64, error) {
		names := make([]string, len(messages))
		for i, m := range messages {
			names[i] = m.Subject
		}
		d.mu.Lock()
		d.batches = append(d.batches, names)
		d.mu.Unlock()
		select {
		case <-d.door:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
		if d.refuse != nil {
			if err := d.refuse(names); err != nil {
				return 0, err
			}
		}
		return 100, nil
	}
	return d
}

// add appends the message called name to instance, which its first byte names.
func (d *desk) add(ctx context.Context, name string, fits bool) error {
	_, err := d.append(ctx, entry{
		instance: name[:1], msg: &nats.Msg{Subject: name},
		alone: func(ctx context.Context) (uint64, error) {
			if ctx.Err() != nil {
				return 0, ctx.Err()
			}
			d.mu.Lock()
			d.alone = append(d.alone, name)
			d.mu.Unlock()
			if name == "slow" {
				<-d.door
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
	bubble := func(name string, f func(t *testing.T, d *desk, start func(name string, fits bool) context.CancelFunc)) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk()
				f(t, d, func(name string, fits bool) context.CancelFunc {
					ctx, cancel := context.WithCancel(t.Context())
					go func() {
						if err := d.add(ctx, name, fits); err != nil && !errors.Is(err, context.Canceled) {
							t.Errorf("%s: %v", name, err)
						}
					}()
					synctest.Wait()
					return cancel
				})
				synctest.Wait()
				if d.busy != 0 || len(d.waiting) != 0 {
					t.Errorf("%d under way, %d wait", d.busy, len(d.waiting))
				}
			})
		})
	}
	open := func(d *desk) { d.door <- struct{}{}; synctest.Wait() }
	expect := func(t *testing.T, what string, got, want int) {
		t.Helper()
		if got != want {
			t.Fatalf("%s: %d, want %d", what, got, want)
		}
	}
	bubble("sends one that comes alone at once", func(t *testing.T, d *desk, start func(string, bool) context.CancelFunc) {
		for range 3 {
			start("A", true)
		}
		expect(t, "alone", len(d.alone), 3)
	})
	bubble("sends those that come meanwhile together, at most one of an instance", func(t *testing.T, d *desk, start func(string, bool) context.CancelFunc) {
		start("slow", true)
		for i := range leastGroup {
			start(letter(i), true)
			start(letter(i), true)
		}
		expect(t, "alone", len(d.alone), 1)
		open(d)
		open(d)
		open(d)
		expect(t, "batches", len(d.batches), 2)
		for _, batch := range d.batches {
			expect(t, "in a batch", len(slices.Compact(slices.Sorted(slices.Values(batch)))), leastGroup)
		}
	})
	bubble("sends a few one by one", func(t *testing.T, d *desk, start func(string, bool) context.CancelFunc) {
		start("slow", true)
		for i := range leastGroup - 1 {
			start(letter(i), true)
		}
		open(d)
		expect(t, "alone", len(d.alone), leastGroup)
	})
	for _, code := range []int{10071, 10164, 10201} {
		bubble(fmt.Sprintf("sends those not to blame for refusal %d together once more", code), func(t *testing.T, d *desk, start func(string, bool) context.CancelFunc) {
			d.refuse = func(batch []string) error {
				if slices.Contains(batch, "Bad") {
					return api(code)
				}
				return nil
			}
			start("slow", true)
			start("Bad", false)
			start("s", true)
			start("slow", true) // is next, for an instance is in a batch once
			for i := range leastGroup {
				start(letter(i+2), true)
			}
			open(d)
			open(d) // the batch: refused
			open(d) // the second slow one
			expect(t, "batches", len(d.batches), 2)
			expect(t, "in the second", len(d.batches[1]), leastGroup+1)
			if slices.Contains(d.batches[1], "Bad") || !slices.Contains(d.alone, "Bad") {
				t.Fatalf("%v, alone %v", d.batches, d.alone)
			}
			open(d)
		})
	}
	bubble("sends each alone if nobody knows what became of the batch", func(t *testing.T, d *desk, start func(string, bool) context.CancelFunc) {
		d.refuse = func([]string) error { return natsjs.ErrNoStreamResponse }
		start("slow", true)
		for i := range leastGroup {
			start(letter(i), true)
		}
		open(d)
		open(d)
		expect(t, "batches", len(d.batches), 1)
		expect(t, "alone", len(d.alone), leastGroup+1)
	})
	bubble("does not send for who gave up waiting", func(t *testing.T, d *desk, start func(string, bool) context.CancelFunc) {
		start("slow", true)
		start("Aa", true)()
		for i := range leastGroup {
			start(letter(i), true)
		}
		open(d)
		open(d)
		if slices.Contains(d.batches[0], "Aa") || len(d.batches[0]) != leastGroup {
			t.Fatalf("sent %v", d.batches)
		}
	})
	bubble("sends each alone if who sends for all gives up", func(t *testing.T, d *desk, start func(string, bool) context.CancelFunc) {
		start("slow", true)
		giveUp := start("A", true)
		for i := range leastGroup {
			start(letter(i+1), true)
		}
		open(d)
		giveUp()
		synctest.Wait()
		expect(t, "batches", len(d.batches), 1)
		expect(t, "alone", len(d.alone), leastGroup+1)
	})
}

func TestWhatGoesTogether(t *testing.T) {
	add := func(g *group, n, size int) {
		for i := range n {
			g.waiting = append(g.waiting, &ticket{entry: entry{instance: fmt.Sprint(i), msg: &nats.Msg{Data: make([]byte, size)}}})
		}
	}
	for _, c := range []struct {
		name          string
		n, size, want int
	}{
		{"all that wait", 10, 1000, 10},
		{"no more than a batch may have", maxGroup + 5, 1, maxGroup},
		{"no more bytes than are good", 8, maxGroupBytes/4 + 1, 3},
		{"one that alone has more", 2, maxGroupBytes + 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := &group{}
			add(g, c.n, c.size)
			if got := g.take(); len(got) != c.want || len(g.waiting) != c.n-c.want {
				t.Fatalf("took %d of %d, left %d, want %d", len(got), c.n, len(g.waiting), c.want)
			}
		})
	}
}

// A turn that comes at the same moment as its ticket's context ends is not lost.
func TestATurnNobodyTakesIsTheNextOnes(t *testing.T) {
	g := &group{busy: 1}
	tickets := make([]*ticket, 3)
	for i := range tickets {
		tickets[i] = &ticket{turn: make(chan turn, 1)}
	}
	tickets[0].turn <- turn{batch: tickets}
	g.withdraw(tickets[0])
	g.withdraw(tickets[1])
	if g.withdraw(tickets[2]); g.busy != 0 {
		t.Fatalf("%d under way, want none", g.busy)
	}
}
