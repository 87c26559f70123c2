package agent_test

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"google.golang.org/protobuf/proto"

	store "github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// newBareEnv is an env without an orchestrator. Most of what is tested here is
// waiting, so the test runs beside others.
func newBareEnv(t *testing.T) *env {
	t.Helper()
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	server := natstest.Start(t, natstest.Options{})
	return &env{T: t, ctx: ctx, server: server, js: server.JetStream(t)}
}

// newQueueEnv is an env without an orchestrator, where pm has the work of one
// state, and the filter of its subjects.
func newQueueEnv(t *testing.T, workflow, state string, lease time.Duration) (w *env, filter string) {
	t.Helper()
	w = newBareEnv(t)
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

// answers has every command of the role's agents answered so; who waits for work
// gets none.
func (e *env) answers(role string, say func(*pb.Command) *pb.CommandReply) {
	e.Helper()
	e.serve(role, func(cmd *pb.Command, answer func(*pb.CommandReply)) {
		if cmd.GetClaim().GetWaitMs() > 0 {
			answer(&pb.CommandReply{Refusal: &pb.Refusal{Code: "no_work"}})
			return
		}
		answer(say(cmd))
	})
}

// serve is given every command of the role's agents, one after the other. It may
// answer later.
func (e *env) serve(role string, take func(cmd *pb.Command, answer func(*pb.CommandReply))) {
	e.Helper()
	nc := e.server.Connect(e.T)
	filter, err := subject.AgentsOf(role)
	if err == nil {
		_, err = nc.Subscribe(filter, func(msg *nats.Msg) {
			one := func(data []byte, form func(reply []byte) []byte) {
				cmd := &pb.Command{}
				if err := proto.Unmarshal(data, cmd); err != nil {
					e.Error(err)
				}
				take(cmd, func(reply *pb.CommandReply) {
					data, _ := proto.Marshal(reply)
					if err := msg.Respond(form(data)); err != nil {
						e.Error(err)
					}
				})
			}
			if _, name, _ := subject.ParseAgent(msg.Subject); name != subject.Batch {
				one(msg.Data, func(reply []byte) []byte { return reply })
				return
			}
			commands, err := wire.Commands(msg.Data)
			if err != nil {
				e.Error(err)
			}
			for place, data := range commands {
				one(data, func(reply []byte) []byte { return wire.BatchReply(wire.Answer{Number: place, Reply: reply}) })
			}
		})
	}
	if err == nil {
		err = nc.Flush()
	}
	if err != nil {
		e.Fatal(err)
	}
}
