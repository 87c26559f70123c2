package jetstream_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/eventstoretest"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
)

func TestAServerThatGoesAndComesBack(t *testing.T) {
	for name, alone := range map[string]bool{"among others": false, "alone": true} {
		t.Run(name, func(t *testing.T) { goesAndComesBack(t, jetstream.Config{Alone: alone}) })
	}
}

func goesAndComesBack(t *testing.T, config jetstream.Config) {
	open := func(t *testing.T, js natsjs.JetStream, config jetstream.Config) *jetstream.Store {
		store, err := jetstream.Open(t.Context(), js, config)
		if err != nil {
			t.Fatal(err)
		}
		return store
	}
	for _, always := range []bool{false, true} {
		t.Run(fmt.Sprintf("loses no commit and doubles none, SyncAlways %v", always), func(t *testing.T) {
			server := natstest.Start(t, natstest.Options{SyncAlways: always})
			impatient := config
			impatient.Timeout = 300 * time.Millisecond
			survives(t, open(t, server.JetStream(t), impatient), func() { server.Restart(t) })
		})
	}
	t.Run("with another log is refused by a reader", func(t *testing.T) {
		server := natstest.Start(t, natstest.Options{})
		config := config
		config.Watermark = filepath.Join(server.Dir, "watermark")
		store := open(t, server.JetStream(t), config)
		want := eventstoretest.Grow(t, store, "a", 3, eventstore.Commit{})
		tail := eventstoretest.Follow(t, store, 1)
		for range want {
			tail.Next(t)
		}
		js := server.JetStream(t)
		add(t, js, remove(t, js))
		server.Restart(t)
		if err := tail.End(t); !errors.Is(err, eventstore.ErrCorrupt) || !strings.Contains(err.Error(), "a recreated log") {
			t.Fatalf("got %v, want ErrCorrupt", err)
		}
	})
	t.Run("is waited for no longer than the context says", func(t *testing.T) {
		server := natstest.Start(t, natstest.Options{})
		config := config
		config.Watermark = filepath.Join(server.Dir, "watermark")
		store := open(t, server.JetStream(t), config)
		c := eventstoretest.Grow(t, store, "a", 1, eventstore.Commit{})
		tail := eventstoretest.Follow(t, store, 2)
		tail.CaughtUp(t)
		server.Stop()
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := store.Append(ctx, eventstoretest.Next("a", "x", c[0])); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Append: got %v", err)
		}
		if _, err := store.Load(ctx, "a"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Load: got %v", err)
		}
		if err := tail.Stop(t); !errors.Is(err, context.Canceled) {
			t.Errorf("Read: got %v", err)
		}
	})
	t.Run("is not waited for on a closed connection", func(t *testing.T) {
		server := natstest.Start(t, natstest.Options{})
		nc := server.Connect(t)
		js, err := natsjs.New(nc)
		if err != nil {
			t.Fatal(err)
		}
		store := open(t, js, config)
		tail := eventstoretest.Follow(t, store, 1)
		tail.CaughtUp(t)
		nc.Close()
		if _, err := store.Append(t.Context(), eventstoretest.Next("a", "x", eventstore.Commit{})); !errors.Is(err, nats.ErrConnectionClosed) {
			t.Errorf("Append: got %v", err)
		}
		if err := tail.End(t); !errors.Is(err, nats.ErrConnectionClosed) {
			t.Errorf("Read: got %v", err)
		}
	})
}

// survives writes and reads while the server is interrupted again and again.
func survives(t *testing.T, store eventstore.Store, interrupt func()) {
	t.Helper()
	const writers, each, interrupted = 8, 60, 150
	tail := eventstoretest.Follow(t, store, 1)
	tail.CaughtUp(t)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			var c eventstore.Commit
			for i := range each {
				c = eventstoretest.Next(fmt.Sprintf("w%d", w), fmt.Sprintf("w%d-%d", w, i), c)
				var err error
				if c.Seq, err = store.Append(t.Context(), c); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	var v eventstore.Verifier
	for want := uint64(1); want <= writers*each; want++ {
		c := tail.Next(t)
		if err := v.Add(c); err != nil || c.Seq != want {
			t.Fatalf("got sequence %d, %v, want %d", c.Seq, err, want)
		}
		if want%interrupted == 0 {
			interrupt()
		}
	}
	wg.Wait()
	if head, err := store.Head(t.Context()); err != nil || head != writers*each {
		t.Fatalf("the log has %d commits, %v, want %d", head, err, writers*each)
	}
	for w := range writers {
		if cs, err := store.Load(t.Context(), fmt.Sprintf("w%d", w)); err != nil || len(cs) != each {
			t.Fatalf("writer %d has %d commits, %v, want %d", w, len(cs), err, each)
		}
	}
}

// send sends a message that is to be stored and waits for the answer.
type send func() (*nats.Msg, error)

// A line may do anything to what is sent.
func TestABadLine(t *testing.T) {
	refusal := func(code int) (*nats.Msg, error) {
		return &nats.Msg{Data: fmt.Appendf(nil, `{"error":{"code":400,"err_code":%d},"stream":"EVENTS","seq":0}`, code)}, nil
	}
	for _, c := range []struct {
		name    string
		publish func(int, send) (*nats.Msg, error)
		tries   int // for two commits
	}{
		{"that loses the request stores the commit once", func(try int, send send) (*nats.Msg, error) {
			if try%2 == 1 {
				return nil, nats.ErrNoResponders
			}
			return send()
		}, 4},
		{"that loses the answer stores the commit once", func(try int, send send) (*nats.Msg, error) {
			ack, err := send()
			if try%2 == 1 {
				return nil, nats.ErrTimeout
			}
			return ack, err
		}, 4},
		{"that delays the request past the next one stores the commit once", func(try int, send send) (*nats.Msg, error) {
			if try%2 == 1 {
				return nil, nats.ErrTimeout
			}
			if _, err := send(); err != nil {
				return nil, err
			}
			return send()
		}, 4},
		{"to a cluster that has the first try in process stores the commit once", func(try int, send send) (*nats.Msg, error) {
			switch try % 4 {
			case 1:
				return nil, nats.ErrTimeout
			case 2:
				return refusal(10158)
			case 3:
				return refusal(10164)
			}
			return send()
		}, 8},
	} {
		t.Run(c.name, func(t *testing.T) {
			store, err := jetstream.Open(t.Context(), natstest.Start(t, natstest.Options{}).JetStream(t), jetstream.Config{})
			if err != nil {
				t.Fatal(err)
			}
			tries := 0
			store.Tamper(func(send func() (*nats.Msg, error)) (*nats.Msg, error) {
				tries++
				return c.publish(tries, send)
			})
			want := eventstoretest.Grow(t, store, "a", 2, eventstore.Commit{})
			if got, err := store.Load(t.Context(), "a"); err != nil || len(got) != len(want) || tries != c.tries {
				t.Fatalf("got %d commits in %d tries, %v, want %d in %d", len(got), tries, err, len(want), c.tries)
			}
			_, err = store.Append(t.Context(), eventstoretest.Next("a", "late", eventstore.Commit{}))
			if !errors.Is(err, eventstore.ErrConflict) || errors.Is(err, eventstore.ErrDuplicate) {
				t.Fatalf("another's commit: got %v, want ErrConflict", err)
			}
		})
	}
}
