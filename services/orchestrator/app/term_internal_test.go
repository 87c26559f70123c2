package app

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/orchestrator/standby"
)

// noWatermark implements standby.Watermark where nothing is known of the log.
type noWatermark struct{}

func (noWatermark) Known() uint64 { return 0 }
func (noWatermark) Know(uint64)   {}

func TestAnOrchestratorThatCannotBecomeActiveTriesAgainUnlessTheLogIsDamaged(t *testing.T) {
	away := errors.New("no answer")
	for name, c := range map[string]struct {
		setupErr error
		ends     bool
	}{"the server is away": {away, false}, "the log is damaged": {eventstore.ErrCorrupt, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := natstest.Start(t, natstest.Options{})
			nc := server.Connect(t)
			older, err := nc.Subscribe(subject.ActiveOrchestrator, func(m *nats.Msg) { _ = m.Respond([]byte(`{"id":"older","since":1}`)) })
			if err := errors.Join(err, nc.Flush()); err != nil { // the server has it before it is asked for
				t.Fatal(err)
			}
			ctx, stop := context.WithTimeout(t.Context(), time.Minute)
			defer stop()
			tries, ended, active := 0, 0, false
			err = service.Serve(ctx, service.Config{
				Service: "orchestrator", Flags: service.Flags{NATS: service.NATS{URL: server.URL}, Grace: 10 * time.Second},
				Log: slog.New(slog.DiscardHandler),
				Setup: func(ctx context.Context, h *service.Host) error {
					return errors.Join(terms{h, standby.NewElector(h.NATS, noWatermark{}), func(_ context.Context, h *service.Host) error {
						h.AddBase("added", func(ctx context.Context) error { <-ctx.Done(); ended++; return nil })
						if tries++; tries == 1 {
							return c.setupErr
						}
						stop()
						return nil
					}, func(is bool) { active = is }}.add(ctx), older.Unsubscribe())
				},
			})
			if errors.Is(err, c.setupErr) != c.ends || tries != map[bool]int{false: 2, true: 1}[c.ends] {
				t.Errorf("after %d tries it ended with %v", tries, err)
			}
			if ended < 1 || active {
				t.Errorf("of the actors that were added %d ended; active: %v", ended, active)
			}
		})
	}
}
