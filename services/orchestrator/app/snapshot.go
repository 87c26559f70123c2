package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine"
	store "github.com/signalbox/signalbox/pkg/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/service"
)

const (
	// snapshotEvery is how many commits a start has to read at most, about, beside
	// those that came while nobody was there to keep a snapshot.
	snapshotEvery = 10_000
	// parting is how long the last snapshot may hold up a stop.
	parting = 3 * time.Second
)

// snapshots is where an engine keeps what it has in memory, and begins from.
func (s Settings) snapshots(ctx context.Context, js jetstream.JetStream, log *slog.Logger, of *store.Store) (*engine.Snapshots, error) {
	index, parts, err := store.EnsureSnapshots(ctx, js, s.Replicas)
	if err != nil {
		return nil, err
	}
	return &engine.Snapshots{Index: index, Parts: parts, Log: of.Identity(), Every: snapshotEvery,
		Ignored: func(err error) { log.Warn("a snapshot is of no use; reading the log instead", "reason", err) }}, nil
}

// keep takes in what the start left out, and then keeps snapshots: whenever there
// is enough that is new, and when ctx ends. One that fails, or is given up at the
// end, costs the next start its time, and nothing else.
func keep(h *service.Host, e *engine.Engine) {
	h.AddBase("snapshots", func(ctx context.Context) error { return snapshots(ctx, h.Log, e) })
}

func snapshots(ctx context.Context, log *slog.Logger, e *engine.Engine) error {
	if err := e.Complete(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	save := func(ctx context.Context, last bool) {
		start := time.Now()
		if err := e.Snapshot(ctx, last); err != nil {
			log.Warn("no snapshot was kept", "error", err)
			return
		}
		log.Debug("snapshot", "took", time.Since(start).Round(time.Millisecond))
	}
	for {
		select {
		case <-e.Due():
			save(ctx, false)
		case <-ctx.Done():
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), parting)
			defer cancel()
			save(ctx, true)
			return nil
		}
	}
}
