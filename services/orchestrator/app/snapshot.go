package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine"
	store "github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/projection/snapshot"
)

const (
	// snapshotEvery is the number of commits after which a snapshot is saved. A start reads about as many
	// commits at most, and those that were appended while no orchestrator ran.
	snapshotEvery = 10_000
	// lastSnapshotTimeout bounds the snapshot that is saved at a stop.
	lastSnapshotTimeout = 3 * time.Second
)

// snapshots returns where the engine saves its snapshots and restores them from.
func (s Settings) snapshots(ctx context.Context, js jetstream.JetStream, log *slog.Logger, events *store.Store) (*snapshot.Config, error) {
	index, parts, err := store.EnsureSnapshots(ctx, js, s.Replicas)
	if err != nil {
		return nil, err
	}
	return &snapshot.Config{Index: index, Parts: parts, Log: events.Identity(), Every: snapshotEvery,
		Ignored: func(err error) { log.Warn("a snapshot is of no use; reading the log instead", "reason", err) }}, nil
}

// saveSnapshots restores what the start left out, then saves a snapshot whenever one is due, and when
// ctx ends. A snapshot that fails makes the next start slower and is logged.
func saveSnapshots(ctx context.Context, log *slog.Logger, e *engine.Engine) error {
	if err := e.Complete(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	save := func(ctx context.Context, last bool) {
		start := time.Now()
		if err := e.Snapshot(ctx, last); err != nil {
			log.Warn("no snapshot was saved", "error", err)
			return
		}
		log.Debug("snapshot", "took", time.Since(start).Round(time.Millisecond))
	}
	for {
		select {
		case <-e.Due():
			save(ctx, false)
		case <-ctx.Done():
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastSnapshotTimeout)
			defer cancel()
			save(ctx, true)
			return nil
		}
	}
}
