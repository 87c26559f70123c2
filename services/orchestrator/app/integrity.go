package app

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	store "github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/service"
)

// verify reads the whole log, if Verify is set. It fails if a sequence is missing or a hash chain is
// broken. Without it a start from a snapshot reads only the commits after the snapshot.
func (s Settings) verify(ctx context.Context, h *service.Host, js jetstream.JetStream) error {
	if !s.Verify {
		return nil
	}
	start := time.Now()
	log, err := store.OpenAuditReader(ctx, js, "", store.Config{Watermark: s.Watermark})
	if err != nil {
		return err
	}
	var chains eventstore.Verifier
	next := uint64(1)
	err = log.Read(ctx, 1, func(m store.Message) error {
		if m.Seq != next {
			return fmt.Errorf("%w: sequences %d to %d are missing", eventstore.ErrCorrupt, next, m.Seq-1)
		}
		next++
		c, err := m.Commit()
		if err != nil || c.Foreign != nil {
			return err
		}
		return chains.Add(c)
	})
	if err == nil && next <= log.Last {
		err = fmt.Errorf("%w: sequences %d to %d are missing", eventstore.ErrCorrupt, next, log.Last)
	}
	if err != nil {
		return fmt.Errorf("%w; `signalbox audit` shows more", err)
	}
	h.Log.Info("log verified", "commits", next-1, "took", time.Since(start).Round(time.Millisecond))
	return nil
}

// endWhenDamaged adds an actor that ends the process when a command finds the log damaged. The guard
// appends nothing from then on.
func endWhenDamaged(h *service.Host, log *eventstore.Guard) {
	h.AddBase("integrity", func(ctx context.Context) error {
		select {
		case <-log.Damaged():
			return fmt.Errorf("%w; nothing more is appended, and `signalbox audit` shows more", log.Err())
		case <-ctx.Done():
			return nil
		}
	})
}
