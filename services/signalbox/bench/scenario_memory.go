package bench

import (
	"context"
	"errors"
	"time"

	"github.com/signalbox/signalbox/services/signalbox/bench/historyfill"
	"github.com/signalbox/signalbox/services/signalbox/bench/process"
)

// memory measures what an instance keeps alive in the orchestrator: the heap with
// many of them less that with none, after a garbage collection.
func memory(ctx context.Context, b *bench) error {
	none, err := b.heap(ctx)
	if err != nil {
		return err
	}
	n := max(b.History/each, 1)
	for _, x := range []struct {
		name string
		over bool
		most float64
	}{{"live instance", false, 2048}, {"finished instance", true, 300}} {
		some, err := b.heap(ctx, chapter{"many", n, historyfill.Kind{Commits: each, Over: x.over}})
		if err != nil {
			return err
		}
		b.add(sample{Scenario: "memory", Name: x.name, Unit: "B", Value: (float64(some) - float64(none)) / float64(n), Goal: within(x.most)})
	}
	return nil
}

func (b *bench) heap(ctx context.Context, chapters ...chapter) (bytes uint64, err error) {
	p := plan{server: separate, sync: b.Sync[0]}
	if len(chapters) > 0 {
		if p.store, err = b.history(ctx, chapters...); err != nil {
			return 0, err
		}
	}
	w, err := b.build(ctx, p)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	return settled(ctx, w.orchestrators[0])
}

// settled is a process's heap once it stops shrinking: after its start there is
// work that keeps what nobody needs any more.
func settled(ctx context.Context, c *process.Child) (bytes uint64, err error) {
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
