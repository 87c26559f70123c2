package jetstream_test

import (
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/eventstoretest"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
)

// An account that may make a consumer, and not pull from it, is answered and gets nothing.
func TestReadingALogThatIsNotDeliveredEnds(t *testing.T) {
	s := natstest.Start(t, natstest.Options{Change: func(o *server.Options) {
		o.Users = []*server.User{
			{Username: "all", Password: "x"},
			{Username: "some", Password: "x", Permissions: &server.Permissions{
				Publish: &server.SubjectPermission{Allow: []string{">"}, Deny: []string{"$JS.API.CONSUMER.MSG.NEXT.>"}}}},
		}
	}})
	open := func(user string) natsjs.JetStream {
		js, err := natsjs.New(s.Connect(t, nats.UserInfo(user, "x")))
		if err != nil {
			t.Fatal(err)
		}
		return js
	}
	log, err := jetstream.Open(t.Context(), open("all"), jetstream.Config{Replicas: 1})
	if err != nil {
		t.Fatal(err)
	}
	eventstoretest.Grow(t, log, "a", 3, eventstore.Commit{})
	if err := log.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	reader, err := jetstream.OpenAuditReader(t.Context(), open("some"), "", jetstream.Config{})
	if err != nil {
		t.Fatal(err)
	}
	reader.Patience = time.Millisecond
	if err := reader.Read(t.Context(), 1, func(jetstream.Message) error { return nil }); !errors.Is(err, jetstream.ErrStalled) {
		t.Errorf("it ended with %v", err)
	}
}
