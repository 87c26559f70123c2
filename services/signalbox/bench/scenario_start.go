package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/services/signalbox/bench/process"
)

// coldStart measures how long an orchestrator takes from the start of its
// process until it answers: the first one, which has to read the whole log, and
// the next, which begins with the snapshot that the first one left; in a short
// log, in a long one with as many instances alive, and in one with more of them:
// what is alive is read at the start, what is over is not.
func coldStart(ctx context.Context, b *bench) error {
	few := max(min(b.History/10, 10_000), each)
	s := Setting{Mode: mode(b.Sync[0]), Server: separate}
	var short began
	for _, log := range []struct{ commits, live int }{{few, alive(few)}, {b.History, alive(few)}, {b.History, alive(b.History)}} {
		x, err := b.started(ctx, log.commits, log.live)
		if err != nil {
			return err
		}
		history, same := fmt.Sprintf("%d commits, %d alive", log.commits, log.live), atMost(1.2)
		if log.live != alive(few) {
			same = nil
		}
		add := func(name string, took, base time.Duration, goal *Goal) {
			f := sample{Scenario: "start", Name: name + ", " + history, Unit: "s", Setting: s, Value: took.Seconds(), Others: x.others}
			if base != 0 {
				of := base.Seconds()
				f.Against, f.Base, f.Goal = fmt.Sprintf("%d commits", few), &of, goal
			}
			b.add(f)
		}
		add("ready, no snapshot", x.first, short.first, nil)
		read, raw := float64(log.commits)/x.replay.Seconds(), float64(log.commits)/x.raw.Seconds()
		b.add(sample{Scenario: "start", Name: "replay, " + history, Unit: "1/s", Setting: s, Value: read, Against: "floor", Base: &raw,
			Others: x.others, Goal: atLeast(0.7)})
		add("ready, from a snapshot", x.next, short.next, same)
		if short.next == 0 {
			short = x
		}
	}
	return nil
}

// began is two starts in one log.
type began struct {
	first, next time.Duration // from the start of the process
	replay      time.Duration // of the first, the reading of the log
	raw         time.Duration // what an ordered consumer takes to read as much
	others      *float64      // at the first
}

func (b *bench) started(ctx context.Context, commits, live int) (x began, err error) {
	dir, err := b.history(ctx, longWith(commits, live)...)
	if err != nil {
		return x, err
	}
	w, err := b.build(ctx, plan{server: separate, sync: b.Sync[0], store: dir, bare: true})
	if err != nil {
		return x, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	reader, err := process.Start("reader")
	if err != nil {
		return x, err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	if err := reader.Call(ctx, "Log.Read", w.url, &x.raw); err != nil {
		return x, err
	}
	replica := func() error { return w.replica(ctx) }
	first, err := b.during(ctx, w.parts, replica)
	if err != nil {
		return x, err
	}
	seconds, err := scrape(ctx, w.metrics, "signalbox_replay_seconds")
	if err := errors.Join(err, w.retire()); err != nil {
		return x, err
	}
	next, err := b.during(ctx, w.parts, replica)
	x.first, x.next, x.others = first.took, next.took, first.others
	x.replay = time.Duration(seconds * float64(time.Second))
	return x, err
}
