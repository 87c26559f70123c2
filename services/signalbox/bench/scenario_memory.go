package bench

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/services/signalbox/bench/historyfill"
	"github.com/signalbox/signalbox/services/signalbox/bench/process"
)

// memory measures the heap that an instance takes in an orchestrator: the heap with many
// instances less that with none.
func memory(ctx context.Context, b *bench) error {
	none, err := b.heap(ctx)
	if err != nil {
		return err
	}
	n := max(b.History/commitsEach, 1)
	for _, x := range []struct {
		name  string
		ended bool
		most  float64
	}{{"live instance", false, 2048}, {"finished instance", true, 300}} {
		some, err := b.heap(ctx, chapter{"many", n, historyfill.Kind{Commits: commitsEach, Ended: x.ended}})
		if err != nil {
			return err
		}
		b.add(sample{Scenario: "memory", Name: x.name, Unit: "B", Value: (float64(some) - float64(none)) / float64(n), Goal: within(x.most)})
	}
	return nil
}

// heap returns the bytes of an orchestrator's heap with a history.
func (b *bench) heap(ctx context.Context, chapters ...chapter) (bytes uint64, err error) {
	s := setup{server: separate, sync: b.Sync[0]}
	if len(chapters) > 0 {
		if s.store, err = b.history(ctx, chapters...); err != nil {
			return 0, err
		}
	}
	err = b.withEnvironment(ctx, s, func(e *environment) (err error) {
		bytes, err = stableHeap(ctx, e.orchestrators[0])
		return err
	})
	return bytes, err
}

// stableHeap returns the heap of a process when it does not shrink any more. Work after
// the start keeps some memory for a while.
func stableHeap(ctx context.Context, c *process.Child) (bytes uint64, err error) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for same := 0; same < 5; <-tick.C {
		var now uint64
		if err := c.Call(ctx, "Process.Heap", process.None{}, &now); err != nil {
			return 0, err
		}
		if same++; bytes == 0 || now < bytes-bytes/100 {
			bytes, same = now, 0
		}
	}
	return bytes, nil
}
