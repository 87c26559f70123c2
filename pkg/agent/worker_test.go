package agent_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// publish puts work of instances into the queue.
func (e *env) publish(filter string, ids ...string) {
	e.Helper()
	for _, id := range ids {
		if _, err := e.js.Publish(e.ctx, strings.Replace(filter, "*", id, 1), nil); err != nil {
			e.Fatal(err)
		}
	}
}

// given is the answer to a claim.
func given(id string, token uint32) *pb.CommandReply {
	return &pb.CommandReply{Token: token, Instance: &pb.Instance{Instance: id, Workflow: "issue", State: "received"}}
}

// said is a command in few words.
func said(cmd *pb.Command) string {
	switch a := cmd.GetAction().(type) {
	case *pb.Command_Claim:
		if a.Claim.GetWaitMs() > 0 {
			return "wait" + cmd.GetInstance()
		}
		return "claim " + cmd.GetInstance()
	case *pb.Command_Report:
		return "report " + cmd.GetInstance()
	case *pb.Command_Release:
		return "release " + cmd.GetInstance()
	}
	return "something else"
}

func TestWhoIsGivenNoWorkWithAReportTakesItFromTheQueue(t *testing.T) {
	for code, want := range map[string][]string{
		"no_work":     {"claim a", "wait", "report a", "claim b", "wait", "report b", "claim c", "wait", "report c"},
		"unavailable": {"claim a", "wait", "report a", "claim b", "wait", "report b", "claim c", "wait", "report c"},
		"invalid":     {"claim a", "wait", "report a", "claim b", "report b", "claim c", "report c"}, // of an orchestrator of before
	} {
		t.Run(code, func(t *testing.T) {
			w, filter := newQueueEnv(t, "issue", "received", 20*time.Second)
			asked := make(chan string, 1000)
			w.serve("pm", func(cmd *pb.Command, answer func(*pb.CommandReply)) {
				asked <- said(cmd)
				switch {
				case cmd.GetClaim().GetWaitMs() > 0:
					if c := cmd.GetClaim(); c.GetAgent() != "a1" || c.GetWork() != 0 || c.GetLeaseMs() != 20_000 {
						t.Errorf("it waits with %v", cmd)
					}
					answer(&pb.CommandReply{Refusal: &pb.Refusal{Code: code}})
				default:
					answer(given(cmd.GetInstance(), 1))
				}
			})
			w.publish(filter, "a", "b", "c")
			w.agent("a1", works(succeed))
			var got []string
			for what := range take(w, asked) {
				if got = append(got, what); what == "report c" {
					break
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("it asks %q, want %q", got, want)
			}
			w.settled()
		})
	}
}

func TestAnAgentThatIsStoppedWhileItWaitsGivesBackWhatItIsGiven(t *testing.T) {
	w, filter := newQueueEnv(t, "issue", "received", 40*time.Second)
	waits, released := make(chan func(*pb.CommandReply), 10), make(chan *pb.Command, 10)
	w.serve("pm", func(cmd *pb.Command, answer func(*pb.CommandReply)) {
		switch {
		case cmd.GetClaim().GetWaitMs() > 0:
			waits <- answer
			return
		case said(cmd) == "release late":
			released <- cmd
		}
		answer(given(cmd.GetInstance(), 1))
	})
	w.publish(filter, "short", "long")
	begun, stopped, begunLate := make(chan struct{}), make(chan struct{}), make(chan struct{}, 1)
	k := w.agent("a1", works(func(ctx context.Context, job agent.Job) (instance.Result, error) {
		switch job.Instance {
		case "late":
			begunLate <- struct{}{}
		case "long": // tells when the agent has been stopped
			close(begun)
			<-ctx.Done()
			close(stopped)
			return instance.Result{}, ctx.Err()
		}
		return success(), nil
	}), func(c *agent.Config) { c.Workers = 2 })
	next(w, begun)
	answer := next(w, waits)
	ended := make(chan struct{})
	go func() { k.stop(); close(ended) }()
	next(w, stopped)
	answer(given("late", 9))
	if cmd := next(w, released); cmd.GetRelease().GetToken() != 9 || !slices.Contains([]string{"the agent is stopping", "the answer came too late"}, cmd.GetRelease().GetReason()) {
		t.Errorf("it gives back %v", cmd)
	}
	next(w, ended)
	if len(begunLate) > 0 {
		t.Error("it was begun")
	}
	if len(waits) > 0 {
		t.Error("it waits for more")
	}
}

// An orchestrator that was killed answers no claim; one that was paused may after
// all, when nobody waits any more.
func TestAnAnswerThatIsOverdueIsNotWaitedForAndWhatItGivesIsGivenBack(t *testing.T) {
	w, filter := newQueueEnv(t, "issue", "received", 40*time.Second)
	waits, released, reported := make(chan func(*pb.CommandReply), 10), make(chan *pb.Command, 10), make(chan string, 10)
	w.serve("pm", func(cmd *pb.Command, answer func(*pb.CommandReply)) {
		switch {
		case cmd.GetClaim().GetWaitMs() > 0:
			waits <- answer
			return
		case cmd.GetRelease() != nil:
			released <- cmd
		case cmd.GetReport() != nil:
			reported <- cmd.GetInstance()
		}
		answer(given(cmd.GetInstance(), 1))
	})
	w.publish(filter, "a", "b")
	w.agent("a1", works(succeed))
	answer := next(w, waits)
	if got := []string{next(w, reported), next(w, reported)}; !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("it reports %q, want the second from the queue", got)
	}
	answer(given("late", 9))
	if cmd := next(w, released); cmd.GetInstance() != "late" || cmd.GetRelease().GetToken() != 9 || cmd.GetRelease().GetReason() != "the answer came too late" {
		t.Errorf("it gives back %v", cmd)
	}
}
