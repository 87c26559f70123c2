package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/services/signalbox/bench/historyfill"
	"github.com/signalbox/signalbox/services/signalbox/bench/process"
)

// loadInstance measures how long it takes to load one instance with many commits: from
// the log, and from an orchestrator that has read the log.
func loadInstance(ctx context.Context, b *bench) error {
	n := max(min(b.History, 10_000), 3)
	dir, err := b.history(ctx, chapter{"one", 1, historyfill.Kind{Commits: n}})
	if err != nil {
		return err
	}
	return b.withEnvironment(ctx, setup{server: separate, sync: b.Sync[0], store: dir}, func(e *environment) error {
		return withProcess("reader", func(reader *process.Child) error {
			args := process.LoadArgs{URL: e.url, Instance: "one/0"}
			var raw, log, get time.Duration
			err := errors.Join(
				reader.Call(ctx, "Log.Read", e.url, &raw), reader.Call(ctx, "Log.Load", args, &log), reader.Call(ctx, "Log.Get", args, &get),
			)
			if err != nil {
				return err
			}
			base := ms(raw)
			for _, from := range []struct {
				name string
				took time.Duration
			}{{"from the log", log}, {"from the orchestrator", get}} {
				b.add(sample{
					Scenario: "load", Name: fmt.Sprintf("%s, %d commits", from.name, n), Unit: "ms", Value: ms(from.took),
					Against: "baseline", Base: &base, Goal: within(20),
				})
			}
			return nil
		})
	})
}
