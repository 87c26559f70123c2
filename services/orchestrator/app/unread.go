package app

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"

	store "github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
)

// definitionsEvery is how often the stored definitions are looked at.
const definitionsEvery = 20 * time.Second

// definitionWatch finds the stored definitions that this build cannot load. A newer build has
// stored them, or they were damaged. Their instances wait.
type definitionWatch struct {
	js          jetstream.JetStream
	definitions registry

	mu     sync.Mutex
	unread map[string]error // by hash, why it cannot be loaded
}

// register adds the gauge of definitions that cannot be loaded.
func (w *definitionWatch) register(r prometheus.Registerer) {
	r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "signalbox_definitions_unreadable",
		Help: "Stored definitions that this orchestrator cannot load: their instances wait."}, func() float64 {
		w.mu.Lock()
		defer w.mu.Unlock()
		return float64(len(w.unread))
	}))
}

// run looks at the definitions until ctx ends.
func (w *definitionWatch) run(ctx context.Context) error {
	tick := time.NewTicker(definitionsEvery)
	defer tick.Stop()
	for {
		w.look(ctx)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// look tries all definitions. Those that are loaded already are not read again.
func (w *definitionWatch) look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, definitionsEvery)
	defer cancel()
	hashes, err := store.ListDefinitions(ctx, w.js)
	if err != nil {
		return // the server is away, which the other checks name
	}
	unread := map[string]error{}
	for _, hash := range hashes {
		if _, err := w.definitions.Hashed(ctx, hash); err != nil {
			unread[hash] = err
		}
	}
	if ctx.Err() != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unread = unread
}

// check returns which definitions cannot be loaded.
func (w *definitionWatch) check(context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.unread) == 0 {
		return nil
	}
	var all []string
	for hash, err := range w.unread {
		all = append(all, fmt.Sprintf("%.12s (%v)", hash, err))
	}
	slices.Sort(all)
	return fmt.Errorf("%d stored definitions cannot be loaded, and their instances wait: %s; run the version that stored them or a newer one", len(all),
		strings.Join(all, "; "))
}
