package agent_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Whoever claims is given more urgent work than was named.
func TestAClaimMayBeAnsweredWithMoreUrgentWork(t *testing.T) {
	w, filter := newQueueEnv(t, "story", "pending", 6*time.Second)
	asked := make(chan *pb.Command, 1000)
	w.answers("pm", func(cmd *pb.Command) *pb.CommandReply {
		asked <- cmd
		return &pb.CommandReply{Seq: 2, Token: 7, Instance: &pb.Instance{Instance: "urgent", Workflow: "story", State: "pushed"}}
	})
	if _, err := w.js.Publish(w.ctx, strings.Replace(filter, "*", "patient", 1), nil); err != nil {
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
