package role_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/agent/role"
	eventlog "github.com/signalbox/signalbox/pkg/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/subject"
)

// An agent that has nothing to do asks nobody, and so does not miss an answer.
func TestAnAgentGoesWhereTheLogIs(t *testing.T) {
	t.Parallel()
	here, there := natstest.Start(t, natstest.Options{}), natstest.Start(t, natstest.Options{})
	for _, s := range []*natstest.Server{here, there} {
		store, err := eventlog.Open(t.Context(), s.JetStream(t), eventlog.Config{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close(context.Background()) })
		if _, err := eventlog.Provision(t.Context(), s.JetStream(t), eventlog.ProvisionConfig{}); err != nil {
			t.Fatal(err)
		}
	}
	work := t.TempDir()
	set := make(chan *nats.Conn, 1)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- service.Serve(ctx, service.Config{
			Service: "developer", Log: slog.New(slog.DiscardHandler), Options: []nats.Option{nats.DontRandomize()},
			Flags: service.Flags{NATS: service.NATS{URL: here.URL + "," + there.URL}, Grace: time.Minute},
			Setup: func(ctx context.Context, h *service.Host) error {
				settings := role.Settings{Brain: []string{"exec:true"}, WorkDir: work, Sandbox: "none", Workers: 1}
				defer func() { set <- h.NATS }()
				return settings.Setup(ctx, h, "developer")
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
	if err := here.JetStream(t).DeleteStream(t.Context(), subject.EventStream); err != nil {
		t.Fatal(err)
	}
	select {
	case <-gone:
	case err := <-ended:
		ended <- nil
		t.Fatalf("it ended: %v", err)
	case <-time.After(time.Minute):
		t.Fatal("it stays for a minute where no log is")
	}
	if err := nc.FlushTimeout(time.Minute); err != nil || nc.ConnectedUrl() != there.URL {
		t.Errorf("connected to %s, want %s: %v", nc.ConnectedUrl(), there.URL, err)
	}
}
