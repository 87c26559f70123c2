package agent_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

func TestPeopleSeeTheOutputOfWorkUntilItEnds(t *testing.T) {
	e := newEnv(t, 5*time.Second)
	prints, seen := make(chan agent.Job, 1), make(chan struct{})
	if _, err := e.client.Do(e.ctx, "open", &pb.Command{Instance: "a", Action: &pb.Command_Open{Open: &pb.Open{Workflow: "issue", Issue: &pb.Issue{Title: "t"}}}}); err != nil {
		t.Fatal(err)
	}
	k := e.agent("pm-1", works(func(_ context.Context, job agent.Job) (instance.Result, error) {
		job.Printed("I look at sum.go\x1b[1m.")
		job.Progress("thinking")
		prints <- job
		<-seen
		return success(), nil
	}))
	job := <-prints
	out, err := e.client.Live(e.ctx, job.Role, job.Token, job.Instance, 0)
	for errors.Is(err, client.ErrNoOutput) && e.ctx.Err() == nil { // the server may not have the agent's subscription yet
		out, err = e.client.Live(e.ctx, job.Role, job.Token, job.Instance, 0)
	}
	if err != nil || out.Text != "I look at sum.go.\n[thinking]" || out.Lost != 0 {
		t.Errorf("%+v, %v", out, err)
	}
	if _, err := e.client.Live(e.ctx, job.Role, job.Token+1, job.Instance, 0); !errors.Is(err, client.ErrNoOutput) {
		t.Errorf("under another claim: %v", err)
	}
	close(seen)
	<-k.ended
	k.stop() // after that nobody answers
	if _, err := e.client.Live(e.ctx, job.Role, job.Token, job.Instance, 0); !errors.Is(err, client.ErrNoOutput) {
		t.Errorf("after its end: %v", err)
	}
}
