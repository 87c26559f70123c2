package agent_test

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/agent"
	store "github.com/signalbox/signalbox/pkg/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/subject"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// engine answers every command of the role's agents with more urgent work than
// was named, and tells what it was asked.
func (w *world) engine(role, urgent string) <-chan *pb.Command {
	w.Helper()
	nc, asked := w.server.Connect(w.T), make(chan *pb.Command, 1000)
	filter, err := subject.AgentsOf(role)
	if err == nil {
		_, err = nc.Subscribe(filter, func(msg *nats.Msg) {
			cmd := &pb.Command{}
			if err := proto.Unmarshal(msg.Data, cmd); err != nil {
				w.Error(err)
			}
			asked <- cmd
			reply, _ := proto.Marshal(&pb.CommandReply{Seq: 2, Token: 7, Instance: &pb.Instance{Instance: urgent, Workflow: "story", State: "pushed"}})
			if err := msg.Respond(reply); err != nil {
				w.Error(err)
			}
		})
	}
	if err != nil {
		w.Fatal(err)
	}
	return asked
}

func TestAClaimMayBeAnsweredWithMoreUrgentWork(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	w := &world{T: t, ctx: ctx, server: natstest.Start(t, natstest.Options{})}
	w.js = w.server.JetStream(t)
	if _, err := store.Open(ctx, w.js, store.Config{}); err != nil {
		t.Fatal(err)
	}
	filter, err := subject.Work("story", "pending")
	if err == nil {
		err = store.EnsureConsumer(ctx, w.js, "pm", []string{filter}, store.ConsumerConfig{AckWait: 6 * time.Second})
	}
	if err != nil {
		t.Fatal(err)
	}
	asked := w.engine("pm", "urgent")
	if _, err := w.js.Publish(ctx, "sb.evt.work.story.pending.patient", nil); err != nil {
		t.Fatal(err)
	}
	beaten := make(chan struct{})
	k := w.agent("a1", works(func(ctx context.Context, job agent.Job) (instance.Result, error) {
		err := job.Note(ctx, "learning", "It was urgent.")
		select {
		case <-beaten:
		case <-ctx.Done():
		}
		return success(), err
	}))
	names := map[string]string{}
	for cmd := range take(w, asked) {
		switch cmd.GetAction().(type) {
		case *pb.Command_Claim:
			names["claim"] = cmd.GetInstance()
			continue
		case *pb.Command_Heartbeat:
			if names["heartbeat"] == "" {
				close(beaten)
			}
			names["heartbeat"] = cmd.GetInstance()
			continue
		case *pb.Command_Note:
			names["note"] = cmd.GetInstance()
			continue
		case *pb.Command_Report:
			names["report"] = cmd.GetInstance()
		}
		break
	}
	for what, want := range map[string]string{"claim": "patient", "heartbeat": "urgent", "note": "urgent", "report": "urgent"} {
		if names[what] != want {
			t.Errorf("the %s is about %q, want %q", what, names[what], want)
		}
	}
	if got := next(w, k.ended); got.job.Instance != "urgent" || got.job.State != "pushed" || got.err != nil {
		t.Errorf("it worked on %+v, %v", got.job.Assignment, got.err)
	}
	w.settled()
}
