package app

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"google.golang.org/protobuf/proto"

	store "github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/service/servicetest"
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
		if _, err := store.EnsureDeliveries(t.Context(), s.JetStream(t), 1); err != nil {
			t.Fatal(err)
		}
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
	leave := func() {
		if err := here.JetStream(t).DeleteStream(t.Context(), subject.DeliveryStream); err != nil {
			t.Fatal(err)
		}
	}
	settings := Settings{Forge: github.Flags{URL: "http://127.0.0.1:1", Token: "none"}, Workflow: "issue", Every: time.Hour, Replicas: 1}
	servicetest.Moves(t, "gateway", here, there, leave, settings.Setup)
}
