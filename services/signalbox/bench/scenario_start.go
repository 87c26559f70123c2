package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/services/signalbox/bench/process"
)

// coldStart measures the time from the start of an orchestrator's process until it answers.
// The first start reads the whole log, the next one starts from the snapshot of the first.
// It measures a short log, a long one with as many live instances, and a long one with
// more. A start reads all live instances, and none that have ended.
func coldStart(ctx context.Context, b *bench) error {
	few := max(min(b.History/10, 10_000), commitsEach)
	at := Setting{Mode: mode(b.Sync[0]), Server: separate}
	var short starts
	for _, log := range []struct{ commits, live int }{{few, liveOf(few)}, {b.History, liveOf(few)}, {b.History, liveOf(b.History)}} {
		x, err := b.twoStarts(ctx, log.commits, log.live)
		if err != nil {
			return err
		}
		history, goal := fmt.Sprintf("%d commits, %d alive", log.commits, log.live), atMost(1.2)
		if log.live != liveOf(few) {
			goal = nil
		}
		add := func(name string, took, base time.Duration, goal *Goal) {
			s := sample{Scenario: "start", Name: name + ", " + history, Unit: "s", Setting: at, Value: took.Seconds(), Others: x.others}
			if base != 0 {
				of := base.Seconds()
				s.Against, s.Base, s.Goal = fmt.Sprintf("%d commits", few), &of, goal
			}
			b.add(s)
		}
		add("ready, no snapshot", x.first, short.first, nil)
		replayed, raw := float64(log.commits)/x.replay.Seconds(), float64(log.commits)/x.raw.Seconds()
		b.add(sample{
			Scenario: "start", Name: "replay, " + history, Unit: "1/s", Setting: at, Value: replayed,
			Against: "baseline", Base: &raw, Others: x.others, Goal: atLeast(0.6),
		})
		add("ready, from a snapshot", x.next, short.next, goal)
		if short.next == 0 {
			short = x
		}
	}
	return nil
}

// starts are two starts with one log.
type starts struct {
	first, next time.Duration // from the start of the process
	replay      time.Duration // of the first: reading the log
	raw         time.Duration // reading the log with an ordered consumer
	others      *float64      // at the first
}

// twoStarts starts an orchestrator twice on a log.
func (b *bench) twoStarts(ctx context.Context, commits, live int) (x starts, err error) {
	dir, err := b.history(ctx, withLive(commits, live)...)
	if err != nil {
		return x, err
	}
	s := setup{server: separate, sync: b.Sync[0], store: dir, bare: true}
	err = b.withEnvironment(ctx, s, func(e *environment) error {
		return withProcess("reader", func(reader *process.Child) error {
			if err := reader.Call(ctx, "Log.Read", e.url, &x.raw); err != nil {
				return err
			}
			add := func() error { return e.addOrchestrator(ctx) }
			first, err := b.measure(ctx, e.processes, add)
			if err != nil {
				return err
			}
			seconds, err := scrape(ctx, e.metrics, "signalbox_replay_seconds")
			if err != nil {
				return err
			}
			if err := e.stopOrchestrators(); err != nil {
				return err
			}
			next, err := b.measure(ctx, e.processes, add)
			x.first, x.next, x.others = first.took, next.took, first.others
			x.replay = time.Duration(seconds * float64(time.Second))
			return err
		})
	})
	return x, err
}
