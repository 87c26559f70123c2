package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/services/signalbox/bench/historyfill"
	"github.com/signalbox/signalbox/services/signalbox/bench/process"
)

// loaded measures how long one instance with a long past takes to load: from the
// log, and from an orchestrator that has read it.
func loaded(ctx context.Context, b *bench) (err error) {
	n := max(min(b.History, 10_000), 3)
	dir, err := b.history(ctx, chapter{"one", 1, historyfill.Kind{Commits: n}})
	if err != nil {
		return err
	}
	w, err := b.build(ctx, plan{server: separate, sync: b.Sync[0], store: dir})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	reader, err := process.Start("reader")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	args := process.LoadArgs{URL: w.url, Instance: "one/0"}
	var raw, log, get time.Duration
	err = errors.Join(
		reader.Call(ctx, "Log.Read", w.url, &raw), reader.Call(ctx, "Log.Load", args, &log), reader.Call(ctx, "Log.Get", args, &get),
	)
	if err != nil {
		return err
	}
	what, base := fmt.Sprintf(", %d commits", n), ms(raw)
	b.add(sample{Scenario: "load", Name: "from the log" + what, Unit: "ms", Value: ms(log), Against: "floor", Base: &base, Goal: within(20)})
	b.add(sample{Scenario: "load", Name: "from the orchestrator" + what, Unit: "ms", Value: ms(get), Against: "floor", Base: &base, Goal: within(20)})
	return nil
}
