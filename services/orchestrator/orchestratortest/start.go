// Package orchestratortest runs orchestrators inside a test, on a real
// nats-server.
package orchestratortest

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/orchestrator/app"
)

// Settings are the flags of an orchestrator.
type Settings = app.Settings

// Start runs n orchestrators on the server at url and returns when all answer.
// They end with the test, or with stop.
func Start(t testing.TB, url string, n int, s Settings) (stop func()) {
	t.Helper()
	return StartLogged(t, url, n, s, slog.New(slog.DiscardHandler))
}

// StartLogged is Start with a log.
func StartLogged(t testing.TB, url string, n int, s Settings, log *slog.Logger) (stop func()) {
	t.Helper()
	return StartOn(t, service.NATS{URL: url}, n, s, log)
}

// StartOn is StartLogged with all that a connection needs.
func StartOn(t testing.TB, nats service.NATS, n int, s Settings, log *slog.Logger) (stop func()) {
	t.Helper()
	if s.AckWait == 0 {
		s.AckWait = 2 * time.Second
	}
	if s.MaxDeliver == 0 {
		s.MaxDeliver = 50
	}
	ctx, cancel := context.WithCancel(context.Background())
	ends := make(chan error, n)
	for range n {
		ready := make(chan struct{})
		go func() {
			ends <- service.Serve(ctx, service.Config{
				Service: "orchestrator", Flags: service.Flags{NATS: nats, Grace: 10 * time.Second},
				Log: log,
				Setup: func(ctx context.Context, h *service.Host) error {
					err := s.Setup(ctx, h)
					if err == nil {
						close(ready)
					}
					return err
				},
			})
		}()
		select {
		case <-ready:
		case err := <-ends:
			cancel()
			t.Fatalf("an orchestrator ended at its start: %v", err)
		}
	}
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		for range n {
			if err := <-ends; err != nil {
				t.Errorf("an orchestrator ended with %v", err)
			}
		}
	}
	t.Cleanup(stop)
	return stop
}
