package jetstream

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/eventstoretest"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
)

// grouped opens the log of a server that flushes before it acknowledges, and
// returns what its appends wait in.
func grouped(t *testing.T, server *natstest.Server) (*Store, *groupCommit) {
	t.Helper()
	s, err := Open(t.Context(), server.JetStream(t), Config{Timeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	g := &groupCommit{batch: s.publishBatch}
	s.append = g.append
	return s, g
}

// together appends commits that all wait when it is their turn.
func together(t *testing.T, s *Store, g *groupCommit, commits []eventstore.Commit) []error {
	t.Helper()
	g.mu.Lock()
	g.queue.inFlight++
	g.mu.Unlock()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	errs := make([]error, len(commits))
	var wg sync.WaitGroup
	for i := range commits {
		wg.Go(func() { commits[i].Seq, errs[i] = s.Append(ctx, commits[i]) })
	}
	waiting := func() int {
		g.mu.Lock()
		defer g.mu.Unlock()
		return len(g.queue.waiting)
	}
	for ctx.Err() == nil && waiting() < len(commits) {
		runtime.Gosched()
	}
	g.leave()
	wg.Wait()
	return errs
}

// openings returns the first commits of n instances.
func openings(n int) []eventstore.Commit {
	commits := make([]eventstore.Commit, n)
	for i := range commits {
		commits[i] = eventstoretest.Next(fmt.Sprintf("i%d", i), fmt.Sprintf("open-%d", i), eventstore.Commit{})
	}
	return commits
}

// batches returns how many messages of the log belong to each batch.
func batches(t *testing.T, s *Store) map[string]int {
	t.Helper()
	head, err := s.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	of := map[string]int{}
	for seq := uint64(1); seq <= head; seq++ {
		m, err := s.stream.GetMsg(t.Context(), seq)
		if err != nil {
			t.Fatal(err)
		}
		if id := m.Header.Get(headerBatch); id != "" {
			of[id]++
		}
	}
	return of
}

// stored checks that each commit is the only one of its instance.
func stored(t *testing.T, s *Store, commits []eventstore.Commit) {
	t.Helper()
	for _, c := range commits {
		if got, err := s.Load(t.Context(), c.Instance); err != nil || len(got) != 1 || got[0].Seq != c.Seq || got[0].ID != c.ID {
			t.Fatalf("%s: got %v, %v, want it at %d", c.Instance, got, err, c.Seq)
		}
	}
}

// Each commit a batch of its own: what a batch stores is a log like any other.
func TestStoreOfBatches(t *testing.T) {
	eventstoretest.Run(t, func(t *testing.T) eventstore.Store {
		s, _ := grouped(t, natstest.Start(t, natstest.Options{SyncAlways: true}))
		var mu sync.Mutex
		s.append = func(ctx context.Context, e pendingAppend) (uint64, error) {
			mu.Lock()
			defer mu.Unlock()
			if e.fits(ctx) { // a batch that is refused takes as long as one that is not
				if seq, err := s.publishBatch(ctx, []*nats.Msg{e.msg}); err == nil {
					return seq, nil
				}
			}
			return e.alone(ctx)
		}
		return s
	})
}

func TestABatch(t *testing.T) {
	const n = 2 * minBatch
	t.Run("stores all with one acknowledgement", func(t *testing.T) {
		s, g := grouped(t, natstest.Start(t, natstest.Options{SyncAlways: true}))
		commits := openings(n)
		if err := errors.Join(together(t, s, g, commits)...); err != nil {
			t.Fatal(err)
		}
		stored(t, s, commits)
		if got := batches(t, s); len(got) != 1 {
			t.Fatalf("got %v, want one batch of %d", got, n)
		}
	})
	t.Run("with a conflict in it hurts nobody else", func(t *testing.T) {
		s, g := grouped(t, natstest.Start(t, natstest.Options{SyncAlways: true}))
		commits := openings(n)
		first := eventstoretest.Put(t, s, eventstoretest.Next(commits[n/2].Instance, "first", eventstore.Commit{}))
		errs := together(t, s, g, commits)
		if !errors.Is(errs[n/2], eventstore.ErrConflict) || errors.Is(errs[n/2], eventstore.ErrDuplicate) {
			t.Fatalf("got %v, want ErrConflict", errs[n/2])
		}
		errs[n/2], commits[n/2] = nil, first
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		stored(t, s, commits)
	})
	t.Run("knows what is stored already, and what is another's", func(t *testing.T) {
		s, g := grouped(t, natstest.Start(t, natstest.Options{SyncAlways: true}))
		commits := openings(n)
		commits[3] = eventstoretest.Put(t, s, commits[3])
		seq := commits[3].Seq
		commits[7] = eventstoretest.Next(commits[7].Instance, commits[3].ID, eventstore.Commit{})
		errs := together(t, s, g, commits)
		if !errors.Is(errs[7], eventstore.ErrDuplicate) {
			t.Fatalf("got %v, want ErrDuplicate", errs[7])
		}
		errs[7] = nil
		if err := errors.Join(errs...); err != nil || commits[3].Seq != seq {
			t.Fatalf("%v; the one stored before is at %d, want %d", err, commits[3].Seq, seq)
		}
		stored(t, s, append(commits[:7:7], commits[8:]...))
	})
	for name, fail := range map[string]func(ask func() (*nats.Msg, error)) (*nats.Msg, error){
		"whose answer is lost": func(ask func() (*nats.Msg, error)) (*nats.Msg, error) {
			_, _ = ask()
			return nil, nats.ErrTimeout
		},
		"whose end is lost": func(func() (*nats.Msg, error)) (*nats.Msg, error) { return nil, nats.ErrTimeout },
		"that nobody takes": func(func() (*nats.Msg, error)) (*nats.Msg, error) { return nil, nats.ErrNoResponders },
	} {
		t.Run(name+" is stored once", func(t *testing.T) {
			s, g := grouped(t, natstest.Start(t, natstest.Options{SyncAlways: true}))
			send := s.send
			s.send = func(ctx context.Context, m *nats.Msg) (*nats.Msg, error) {
				ask := func() (*nats.Msg, error) { return send(ctx, m) }
				if m.Header.Get(headerBatchCommit) != "" {
					return fail(ask)
				}
				return ask()
			}
			commits := openings(n)
			if err := errors.Join(together(t, s, g, commits)...); err != nil {
				t.Fatal(err)
			}
			stored(t, s, commits)
		})
	}
	t.Run("that a server takes for less is not believed", func(t *testing.T) {
		s, _ := grouped(t, natstest.Start(t, natstest.Options{SyncAlways: true}))
		s.send = func(context.Context, *nats.Msg) (*nats.Msg, error) {
			return &nats.Msg{Data: []byte(`{"stream":"EVENTS","seq":2}`)}, nil
		}
		if _, err := s.publishBatch(t.Context(), []*nats.Msg{{}, {Subject: "sb.evt.x"}}); err == nil {
			t.Fatal("believed")
		}
	})
}

// Two orchestrators, each with a group of its own, on the same instances.
func TestTwoStoresRace(t *testing.T) {
	const instances, each = 40, 5
	server := natstest.Start(t, natstest.Options{SyncAlways: true})
	var wg sync.WaitGroup
	for w := range 2 {
		s, _ := grouped(t, server)
		for i := range instances {
			wg.Go(func() {
				instance := fmt.Sprintf("i%d", i)
				for k := 0; k < each; {
					last, err := s.Last(t.Context(), instance)
					if err != nil && !errors.Is(err, eventstore.ErrUnknown) {
						t.Error(err)
						return
					}
					_, err = s.Append(t.Context(), eventstoretest.Next(instance, fmt.Sprintf("w%d-%d-%d", w, i, k), last))
					switch {
					case err == nil:
						k++
					case !errors.Is(err, eventstore.ErrConflict) || errors.Is(err, eventstore.ErrDuplicate):
						t.Error(err)
						return
					}
				}
			})
		}
	}
	wg.Wait()
	s, _ := grouped(t, server)
	for i := range instances {
		got, err := s.Load(t.Context(), fmt.Sprintf("i%d", i))
		ids := map[string]bool{}
		for _, c := range got {
			ids[c.ID] = true
		}
		if err != nil || len(got) != 2*each || len(ids) != 2*each {
			t.Fatalf("instance %d: %d commits, %d ids, %v, want %d", i, len(got), len(ids), err, 2*each)
		}
	}
	if len(batches(t, s)) == 0 {
		t.Fatal("nothing was sent together")
	}
}

func TestAnAnswer(t *testing.T) {
	for _, c := range []struct {
		name, data string
		want       ack
		err        error // nil: any
		bad        bool
	}{
		{"of a message", `{"stream":"EVENTS","seq":17}`, ack{Stream: "EVENTS", Seq: 17}, nil, false},
		{"with a domain", `{"stream":"EVENTS","domain":"hub","seq":17}`, ack{Stream: "EVENTS", Seq: 17}, nil, false},
		{"of a message seen before", `{"stream":"EVENTS","seq":17,"duplicate": true}`, ack{Stream: "EVENTS", Seq: 17, Duplicate: true}, nil, false},
		{"of a batch", `{"stream":"EVENTS","seq":17,"batch":"x","count":3}`, ack{Stream: "EVENTS", Seq: 17, Batch: "x", Count: 3}, nil, false},
		{"of refusal", `{"error":{"code":404,"err_code":10059,"description":"x"},"stream":"EVENTS","seq":0}`, ack{}, natsjs.ErrStreamNotFound, true},
		{"of another stream", `{"stream":"OTHER","seq":17}`, ack{}, natsjs.ErrInvalidJSAck, true},
		{"without a sequence", `{"stream":"EVENTS","seq":0,"domain":"x"}`, ack{}, natsjs.ErrInvalidJSAck, true},
		{"that is none", `ok`, ack{}, natsjs.ErrInvalidJSAck, true},
		{"cut short", `{"stream":"EVENTS","seq":1`, ack{}, natsjs.ErrInvalidJSAck, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &Store{send: func(context.Context, *nats.Msg) (*nats.Msg, error) { return &nats.Msg{Data: []byte(c.data)}, nil }}
			got, err := s.request(t.Context(), &nats.Msg{})
			if got != c.want || (err != nil) != c.bad || c.bad && !errors.Is(err, c.err) {
				t.Fatalf("got %+v, %v", got, err)
			}
		})
	}
}
