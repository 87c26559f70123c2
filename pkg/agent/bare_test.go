package agent_test

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"google.golang.org/protobuf/proto"

	store "github.com/signalbox/signalbox/pkg/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/subject"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// newBare is a world without an orchestrator. Most of what is tested here is
// waiting, so the test runs beside others.
func newBare(t *testing.T) *world {
	t.Helper()
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	server := natstest.Start(t, natstest.Options{})
	return &world{T: t, ctx: ctx, server: server, js: server.JetStream(t)}
}

// newQueue is a world without an orchestrator, where pm has the work of one
// state, and the filter of its subjects.
func newQueue(t *testing.T, workflow, state string, lease time.Duration) (w *world, filter string) {
	t.Helper()
	w = newBare(t)
	if _, err := store.Open(w.ctx, w.js, store.Config{}); err != nil {
		t.Fatal(err)
	}
	filter, err := subject.Work(workflow, state)
	if err == nil {
		err = store.EnsureConsumer(w.ctx, w.js, "pm", []string{filter}, store.ConsumerConfig{AckWait: lease})
	}
	if err != nil {
		t.Fatal(err)
	}
	return w, filter
}

// answers has every command of the role's agents answered so.
func (w *world) answers(role string, say func(*pb.Command) *pb.CommandReply) {
	w.Helper()
	nc := w.server.Connect(w.T)
	filter, err := subject.AgentsOf(role)
	if err == nil {
		_, err = nc.Subscribe(filter, func(msg *nats.Msg) {
			cmd := &pb.Command{}
			if err := proto.Unmarshal(msg.Data, cmd); err != nil {
				w.Error(err)
			}
			reply, _ := proto.Marshal(say(cmd))
			if err := msg.Respond(reply); err != nil {
				w.Error(err)
			}
		})
	}
	if err == nil {
		err = nc.Flush()
	}
	if err != nil {
		w.Fatal(err)
	}
}
