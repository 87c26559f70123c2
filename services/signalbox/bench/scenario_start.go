package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/services/signalbox/bench/part"
)

// coldStart measures how long an orchestrator takes from the start of its
// process until it answers: the first one, which has to read the whole log, and
// the next, which begins with the snapshot that the first one left; in a short
// log and in a long one.
func coldStart(ctx context.Context, b *bench) error {
	few := max(min(b.History/10, 10_000), each)
	s := Setting{Mode: mode(b.Sync[0]), Server: separate}
	var short began
	for _, commits := range []int{few, b.History} {
		x, err := b.started(ctx, commits)
		if err != nil {
			return err
		}
		add := func(name string, took, base time.Duration, goal *Goal) {
			f := sample{Scenario: "start", Name: fmt.Sprintf("%s, %d commits", name, commits), Unit: "s", Setting: s, Value: took.Seconds(), Others: x.others}
			if base != 0 {
				of := base.Seconds()
				f.Against, f.Base, f.Goal = fmt.Sprintf("%d commits", few), &of, goal
			}
			b.add(f)
		}
		add("ready, no snapshot", x.first, short.first, nil)
		read, raw := float64(commits)/x.replay.Seconds(), float64(commits)/x.raw.Seconds()
		b.add(sample{Scenario: "start", Name: fmt.Sprintf("replay, %d commits", commits), Unit: "1/s", Setting: s, Value: read, Against: "floor", Base: &raw,
			Others: x.others, Goal: atLeast(0.7)})
		add("ready, from a snapshot", x.next, short.next, atMost(1.2))
		short = x
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

func (b *bench) started(ctx context.Context, commits int) (x began, err error) {
	dir, err := b.history(ctx, long(commits)...)
	if err != nil {
		return x, err
	}
	w, err := b.build(ctx, plan{server: separate, sync: b.Sync[0], store: dir, bare: true})
	if err != nil {
		return x, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	reader, err := part.Start("reader")
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
