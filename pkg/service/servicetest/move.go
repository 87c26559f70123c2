// Package servicetest tests services together with NATS servers.
package servicetest

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/service"
)

// Moves runs a service that may connect to both servers, calls leave, and checks that
// the service moves from here to there.
func Moves(t *testing.T, name string, here, there *natstest.Server, leave func(), setup func(context.Context, *service.Host) error) {
	t.Helper()
	set := make(chan *nats.Conn, 1)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- service.Serve(ctx, service.Config{
			Service: name, Log: slog.New(slog.DiscardHandler), Options: []nats.Option{nats.DontRandomize()},
			Flags: service.Flags{NATS: service.NATS{URL: here.URL + "," + there.URL}, Grace: time.Minute},
			Setup: func(ctx context.Context, h *service.Host) error {
				defer func() { set <- h.NATS }()
				return setup(ctx, h)
			},
		})
	}()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	nc := <-set
	gone := nc.StatusChanged(nats.RECONNECTING)
	leave()
	select {
	case <-gone:
	case err := <-ended:
		ended <- nil
		t.Fatalf("it ended: %v", err)
	case <-time.After(time.Minute):
		t.Fatal("it stays for a minute where it has no reason to")
	}
	if err := nc.FlushTimeout(time.Minute); err != nil || nc.ConnectedUrl() != there.URL {
		t.Errorf("connected to %s, want %s: %v", nc.ConnectedUrl(), there.URL, err)
	}
}
