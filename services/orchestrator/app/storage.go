package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"

	store "github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
)

const (
	// storageEvery is how often the storage of JetStream is looked at.
	storageEvery = 15 * time.Second
	// storageNearlyFull is the part of a limit from which the log warns.
	storageNearlyFull = 0.8
)

// storageWatch watches the storage of JetStream.
type storageWatch struct {
	js      jetstream.JetStream
	log     *slog.Logger
	metrics *metrics
	full    func() error // the newest append that was refused for want of storage

	mu   sync.Mutex
	last store.Usage // as it was when it was looked at last
}

// register adds the gauge of refused appends.
func (w *storageWatch) register(r prometheus.Registerer) {
	r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "signalbox_storage_full",
		Help: "1 while JetStream refuses appends for want of storage, else 0."}, func() float64 {
		if w.full() != nil {
			return 1
		}
		return 0
	}))
}

// run looks at the storage until ctx ends.
func (w *storageWatch) run(ctx context.Context) error {
	tick := time.NewTicker(storageEvery)
	defer tick.Stop()
	warned := false
	for {
		warned = w.look(ctx, warned)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// look sets the gauges, and logs once that a limit is near. It returns whether one is.
func (w *storageWatch) look(ctx context.Context, warned bool) (near bool) {
	ctx, cancel := context.WithTimeout(ctx, storageEvery)
	defer cancel()
	usage, err := store.StorageOf(ctx, w.js)
	if err != nil {
		return warned // the server is away, which others say, or does not show it
	}
	w.mu.Lock()
	w.last = usage
	w.mu.Unlock()
	w.metrics.storage.WithLabelValues("used").Set(float64(usage.Used))
	w.metrics.storage.WithLabelValues("log").Set(float64(usage.Log))
	w.metrics.storage.WithLabelValues("limit").Set(float64(usage.Limit))
	near = usage.Part() >= storageNearlyFull
	if near && !warned {
		w.log.Warn("the storage of JetStream is nearly full: raise the limit of the account", "used", usage.Used, "limit", usage.Limit)
	}
	return near
}

// check returns why JetStream stores nothing.
func (w *storageWatch) check(context.Context) error {
	err := w.full()
	if errors.Is(err, store.ErrFull) {
		return fmt.Errorf("%w; raise the limit of JetStream or make room", err)
	}
	return err
}

// near returns how much of a limit is used, once it is nearly reached.
func (w *storageWatch) near(context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last.Part() < storageNearlyFull {
		return nil
	}
	return fmt.Errorf("%d of the account's %d bytes of JetStream are used; raise the limit or make room", w.last.Used, w.last.Limit)
}
