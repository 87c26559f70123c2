package app

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	store "github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
)

// settingsWatch watches the settings of the streams, and puts back what was changed.
type settingsWatch struct {
	js      jetstream.JetStream
	log     *slog.Logger
	metrics *metrics
	wrong   atomic.Pointer[string] // what could not be put back; nil: nothing
}

// updatedStreams are the server's messages about streams that were changed.
const updatedStreams = "$JS.EVENT.ADVISORY.STREAM.UPDATED.>"

// settingsEvery is how often settings are looked at, if the server does not say that they were changed.
const settingsEvery = 5 * time.Second

// run looks at the settings until ctx ends.
func (w *settingsWatch) run(ctx context.Context) error {
	updated := make(chan struct{}, 1)
	sub, err := w.js.Conn().Subscribe(updatedStreams, func(*nats.Msg) {
		select {
		case updated <- struct{}{}:
		default: // one look is enough
		}
	})
	if err != nil {
		return fmt.Errorf("subscribe to %s: %w", updatedStreams, err)
	}
	defer func() { _ = sub.Unsubscribe() }() // fails only if the connection is closed
	tick := time.NewTicker(settingsEvery)
	defer tick.Stop()
	for {
		w.look(ctx)
		select {
		case <-updated:
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// look puts back what was changed. It logs what it cannot put back when that is new.
func (w *settingsWatch) look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, settingsEvery)
	defer cancel()
	found, err := store.MendSettings(ctx, w.js)
	var left []string
	for _, d := range found {
		want := strings.Join(d.Want, ", ")
		if d.Mended {
			w.metrics.settings.WithLabelValues(d.Stream).Inc()
			w.log.Error("the settings of a stream were changed, and are put back; find who may do that", "stream", d.Stream, "want", want)
			continue
		}
		left = append(left, fmt.Sprintf("stream %s should have %s: %v", d.Stream, want, d.Problem))
	}
	if left == nil {
		if err == nil { // else the server is away, which others say
			w.wrong.Store(nil)
		}
		return
	}
	text := strings.Join(left, "; ")
	if before := w.wrong.Swap(&text); before != nil && *before == text {
		return
	}
	for _, d := range found {
		if !d.Mended {
			w.metrics.settings.WithLabelValues(d.Stream).Inc()
		}
	}
	w.log.Error("the settings of a stream were changed, and cannot be put back; messages may be lost", "problem", text)
}

// check returns what could not be put back.
func (w *settingsWatch) check(context.Context) error {
	if text := w.wrong.Load(); text != nil {
		return fmt.Errorf("%w: %s", store.ErrSettings, *text)
	}
	return nil
}
