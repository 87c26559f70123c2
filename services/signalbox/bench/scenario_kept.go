package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/services/signalbox/bench/historyfill"
	"github.com/signalbox/signalbox/services/signalbox/bench/load"
	"github.com/signalbox/signalbox/services/signalbox/bench/process"
)

// keptCommits is the number of commits of each kept instance: its memory does not depend on them.
const keptCommits = 3

// kept measures an orchestrator with --kept instances in its log, a hundredth of them alive: its starts, its snapshot, its
// memory, the lists that people ask for, and a takeover.
func kept(ctx context.Context, b *bench) error {
	live := max(b.Kept/100, 1)
	dir, err := b.history(ctx,
		chapter{"over", b.Kept - live, historyfill.Kind{Commits: keptCommits, Ended: true}},
		chapter{"live", live, historyfill.Kind{Commits: keptCommits}})
	if err != nil {
		return err
	}
	s := setup{server: separate, sync: b.Sync[0], store: dir, bare: true}
	return b.withEnvironment(ctx, s, func(e *environment) error {
		return withProcess("reader", func(reader *process.Child) error {
			k := keeper{bench: b, environment: e, reader: reader}
			for _, phase := range []func(context.Context) error{k.first, k.next, k.lists, k.takeover} {
				if err := phase(ctx); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// keeper has the parts of the scenario kept.
type keeper struct {
	*bench
	*environment
	reader *process.Child
}

// note adds a figure of the scenario.
func (k keeper) note(name, unit string, value float64, others *float64) {
	k.add(sample{
		Scenario: "kept", Name: fmt.Sprintf("%s, %d instances", name, k.Kept), Unit: unit, Value: value, Others: others,
		Setting: Setting{Mode: mode(k.Sync[0]), Server: separate},
	})
}

// time adds the time that f takes.
func (k keeper) time(ctx context.Context, name string, f func() error) error {
	u, err := k.measure(ctx, k.processes, f)
	if err == nil {
		k.note(name, "s", u.took.Seconds(), u.others)
	}
	return err
}

// first starts on the log alone, and waits for the snapshot that follows.
func (k keeper) first(ctx context.Context) error {
	if err := k.time(ctx, "ready, no snapshot", func() error { return k.addOrchestrator(ctx) }); err != nil {
		return err
	}
	var snapshot process.Size
	if err := k.time(ctx, "snapshot written", func() error { return k.reader.Call(ctx, "Log.Snapshot", k.url, &snapshot) }); err != nil {
		return err
	}
	var log process.Size
	if err := k.reader.Call(ctx, "Log.Size", k.url, &log); err != nil {
		return err
	}
	k.note("size of the snapshot", "B", float64(snapshot.Bytes), nil)
	k.note("size of the log", "B", float64(log.Bytes), nil)
	if err := k.memory(ctx, "after a start from the log"); err != nil {
		return err
	}
	return k.stopOrchestrators()
}

// next starts from the snapshot. The first list waits for the closed instances.
func (k keeper) next(ctx context.Context) error {
	if err := k.time(ctx, "ready, from a snapshot", func() error { return k.addOrchestrator(ctx) }); err != nil {
		return err
	}
	if err := k.time(ctx, "first list after it", func() error { return k.list(ctx, process.ListArgs{}) }); err != nil {
		return err
	}
	return k.memory(ctx, "after a start from a snapshot")
}

// memory adds the heap of the orchestrator, and the greatest memory that it had so far.
func (k keeper) memory(ctx context.Context, when string) error {
	heap, err := stableHeap(ctx, k.orchestrators[0])
	if err != nil {
		return err
	}
	usage, err := k.orchestrators[0].Usage(ctx)
	k.note("heap "+when, "B", float64(heap), nil)
	k.note("peak of memory "+when, "B", float64(usage.RSS), nil)
	return err
}

func (k keeper) list(ctx context.Context, a process.ListArgs) error {
	a.URL = k.url
	return k.reader.Call(ctx, "Log.List", a, new(time.Duration))
}

// lists asks for pages of what is alive and of all, and for an instance that has ended.
func (k keeper) lists(ctx context.Context) error {
	for _, l := range []struct {
		name string
		process.ListArgs
	}{
		{"a page of those alive", process.ListArgs{}},
		{"a page of all", process.ListArgs{All: true}},
		{"a page of all that have a text", process.ListArgs{All: true, Text: fmt.Sprintf("over/%d", k.Kept/2)}},
	} {
		if err := k.time(ctx, l.name, func() error { return k.list(ctx, l.ListArgs) }); err != nil {
			return err
		}
	}
	ended := process.LoadArgs{URL: k.url, Instance: fmt.Sprintf("over/%d", k.Kept/3)}
	var took time.Duration
	if err := k.reader.Call(ctx, "Log.Get", ended, &took); err != nil {
		return err
	}
	k.note("an instance that has ended", "s", took.Seconds(), nil)
	return nil
}

// takeover kills the orchestrator while another stands by.
func (k keeper) takeover(ctx context.Context) (err error) {
	if err := k.addOrchestrator(ctx); err != nil {
		return err
	}
	if k.agents, err = k.startAgents(ctx, 1); err != nil {
		return err
	}
	active := k.orchestrators[0]
	k.orchestrators = k.orchestrators[1:]
	if err := k.time(ctx, "8 steps after the orchestrator was killed", func() error {
		if err := active.Kill(); err != nil {
			return err
		}
		_, err := k.run(ctx, load.Order{Workflow: k.workflow(), Prefix: "kept", Steps: steps, Instances: 1, InFlight: 1})
		return err
	}); err != nil {
		return err
	}
	return k.time(ctx, "first list after a takeover", func() error { return k.list(ctx, process.ListArgs{All: true}) })
}
