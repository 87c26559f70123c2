package app

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/eventstore"
	"github.com/signalbox/signalbox/pkg/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/subject"
	"github.com/signalbox/signalbox/services/orchestrator/duty"
)

// nothing is known of a log.
type nothing struct{}

func (nothing) Known() uint64 { return 0 }
func (nothing) Know(uint64)   {}

// Where one cannot go on duty because the server is away, it goes when that is
// back; where the log is damaged it ends.
func TestWhoCannotGoOnDutyTriesAgainUnlessTheLogIsDamaged(t *testing.T) {
	away := errors.New("no answer")
	for name, c := range map[string]struct {
		says error
		ends bool
	}{"the server is away": {away, false}, "the log is damaged": {eventstore.ErrCorrupt, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := natstest.Start(t, natstest.Options{})
			elder, err := server.Connect(t).Subscribe(subject.Duty, func(m *nats.Msg) { _ = m.Respond([]byte(`{"id":"elder","since":1}`)) })
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithTimeout(t.Context(), time.Minute)
			defer stop()
			tries, ended, on := 0, 0, false
			err = service.Serve(ctx, service.Config{
				Service: "orchestrator", Flags: service.Flags{NATS: service.NATS{URL: server.URL}, Grace: 10 * time.Second}, Log: slog.New(slog.DiscardHandler),
				Setup: func(ctx context.Context, h *service.Host) error {
					return errors.Join(shifts{h, duty.New(h.NATS, nothing{}), func(_ context.Context, h *service.Host) error {
						h.AddBase("begun", func(ctx context.Context) error { <-ctx.Done(); ended++; return nil })
						if tries++; tries == 1 {
							return c.says
						}
						stop()
						return nil
					}, func(is bool) { on = is }}.add(ctx), elder.Unsubscribe())
				},
			})
			if errors.Is(err, c.says) != c.ends || tries != map[bool]int{false: 2, true: 1}[c.ends] {
				t.Errorf("after %d tries it ended with %v", tries, err)
			}
			if ended < 1 || on {
				t.Errorf("of what was begun %d ended; on duty: %v", ended, on)
			}
		})
	}
}
