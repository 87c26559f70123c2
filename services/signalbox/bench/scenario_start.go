package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/services/signalbox/bench/part"
)

// coldStart measures how long an orchestrator takes from the start of its
// process until it answers, with a short past and with a long one.
func coldStart(ctx context.Context, b *bench) error {
	few := max(min(b.History/10, 10_000), each)
	short, err := b.started(ctx, few)
	if err != nil {
		return err
	}
	full, err := b.started(ctx, b.History)
	if err != nil {
		return err
	}
	s := Setting{Mode: mode(b.Sync[0]), Server: separate}
	var base *float64
	for _, x := range []struct {
		commits int
		began
	}{{few, short}, {b.History, full}} {
		what := fmt.Sprintf(", %d commits", x.commits)
		ready := x.ready.Seconds()
		add := sample{Scenario: "start", Name: "ready" + what, Unit: "s", Setting: s, Value: ready, Others: x.others}
		if base != nil {
			add.Against, add.Base = fmt.Sprintf("%d commits", few), base
		}
		b.add(add)
		base = &ready
		read, raw := float64(x.commits)/x.replay.Seconds(), float64(x.commits)/x.raw.Seconds()
		b.add(sample{Scenario: "start", Name: "replay" + what, Unit: "1/s", Setting: s, Value: read, Against: "floor", Base: &raw, Others: x.others, Goal: atLeast(0.7)})
	}
	return nil
}

// began is one start.
type began struct {
	ready  time.Duration // from the start of the process
	replay time.Duration // of it, the reading of the log
	raw    time.Duration // what an ordered consumer takes to read as much
	others *float64
}

func (b *bench) started(ctx context.Context, commits int) (x began, err error) {
	dir, err := b.history(ctx, long(commits)...)
	if err != nil {
		return x, err
	}
	w, err := b.build(ctx, plan{server: separate, sync: b.Sync[0], store: dir}) // its first start makes what is missing
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
	old := w.orchestrators
	w.orchestrators, w.metrics = nil, nil
	if err := old[0].Close(); err != nil {
		return x, err
	}
	u, err := b.during(ctx, []*part.Child{w.server}, func() error { return w.replica(ctx) })
	if err != nil {
		return x, err
	}
	seconds, err := scrape(ctx, w.metrics, "signalbox_replay_seconds")
	x.ready, x.replay = u.took, time.Duration(seconds*float64(time.Second))
	return x, err
}
