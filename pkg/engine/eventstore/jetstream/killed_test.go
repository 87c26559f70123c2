package jetstream

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/eventstoretest"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/testkit/programtest"
)

// A server that is killed may have stored a batch, none of it or, until it is
// back, a part. Whoever appends is told what is true in the end.
func TestAKilledServer(t *testing.T) {
	const writers, kills, between = 48, 4, 300
	server := natstest.StartProcess(t, programtest.NATSServer(t), "always")
	s, err := Open(t.Context(), server.JetStream(t), Config{Timeout: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	var acks atomic.Int64
	var enough atomic.Bool
	wake := make(chan struct{}, 1)
	acked := make([][]eventstore.Commit, writers)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			var last eventstore.Commit
			for i := 0; !enough.Load(); i++ {
				c := eventstoretest.Next(fmt.Sprintf("w%d", w), fmt.Sprintf("w%d-%d", w, i), last)
				var err error
				if c.Seq, err = s.Append(t.Context(), c); err != nil {
					t.Error(err)
					return
				}
				acked[w], last = append(acked[w], c), c
				if acks.Add(1)%between == 0 {
					select {
					case wake <- struct{}{}:
					default:
					}
				}
			}
		})
	}
	for range kills {
		select {
		case <-wake: // in the middle of work
		case <-time.After(2 * time.Minute):
			t.Error("nothing is stored any more")
		}
		server.Kill()
		server.Restart(t)
	}
	enough.Store(true)
	wg.Wait()
	if len(batches(t, s)) == 0 {
		t.Error("nothing was sent together")
	}
	total := 0
	for w, want := range acked {
		got, err := s.Load(t.Context(), fmt.Sprintf("w%d", w))
		if err != nil || len(got) != len(want) {
			t.Fatalf("writer %d: %d commits are stored, %v, want the %d acknowledged", w, len(got), err, len(want))
		}
		for i, c := range got {
			if c.ID != want[i].ID || c.Seq != want[i].Seq {
				t.Fatalf("writer %d: commit %d is %s at %d, want %s at %d", w, i, c.ID, c.Seq, want[i].ID, want[i].Seq)
			}
		}
		total += len(got)
	}
	if head, err := s.Head(t.Context()); err != nil || head != uint64(total) {
		t.Fatalf("the log has %d commits, %v, want the %d acknowledged", head, err, total)
	}
}
