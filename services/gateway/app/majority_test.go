package app

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"google.golang.org/protobuf/proto"

	store "github.com/signalbox/signalbox/pkg/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/subject"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

func TestTheGatewayGoesWhereTheLogIs(t *testing.T) {
	t.Parallel()
	here, there := natstest.Start(t, natstest.Options{}), natstest.Start(t, natstest.Options{})
	for _, s := range []*natstest.Server{here, there} {
		log, err := store.Open(t.Context(), s.JetStream(t), store.Config{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = log.Close(context.Background()) })
	}
	asked, err := subject.API(subject.Definition)
	if err != nil {
		t.Fatal(err)
	}
	known, err := proto.Marshal(&pb.DefinitionReply{Name: "issue"})
	if err != nil {
		t.Fatal(err)
	}
	other := here.Connect(t)
	if _, err := other.Subscribe(asked, func(m *nats.Msg) { _ = m.Respond(known) }); err != nil {
		t.Fatal(err)
	}
	if err := other.Flush(); err != nil {
		t.Fatal(err)
	}
	set := make(chan *nats.Conn, 1)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- service.Serve(ctx, service.Config{
			Service: "gateway", Log: slog.New(slog.DiscardHandler), Options: []nats.Option{nats.DontRandomize()},
			Flags: service.Flags{NATS: service.NATS{URL: here.URL + "," + there.URL}, Grace: time.Minute},
			Setup: func(ctx context.Context, h *service.Host) error {
				defer func() { set <- h.NATS }()
				return Settings{Forge: github.Flags{URL: "http://127.0.0.1:1", Token: "none"}, Workflow: "issue", Every: time.Hour, Replicas: 1}.Setup(ctx, h)
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
