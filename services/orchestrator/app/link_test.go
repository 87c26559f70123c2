package app_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/orchestrator/orchestratortest"
)

const errand = `
workflow: errand
version: 1
initial: go
states:
  go: {owner: worker, next: [wait], decide: [{to: wait}]}
  wait:
    about: A chore is done meanwhile.
    spawns: [{workflow: chore, reason: it needs a chore}]
    next: [back, lost]
    on: {ended: [{when: "signal.data['well'] == 'true'", to: back}, {to: lost, failure: true}]}
  back: {final: true}
  lost: {final: true}
`

func TestOrchestratorsOpenWhatIsSpawnedAndSayHowItEnded(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	dir := lifecycles(t, chore)
	if err := os.WriteFile(filepath.Join(dir, "errand.yaml"), []byte(errand), 0o644); err != nil {
		t.Fatal(err)
	}
	start := func() (stop func()) {
		return orchestratortest.Start(t, server.URL, 2, orchestratortest.Settings{WorkflowDir: dir})
	}
	stop := start()
	again := func() { stop(); stop = start() } // from a snapshot
	c := client.New(server.Connect(t), "operator:ann")
	// work has the worker do what is dispatched to it in a state.
	work := func(id, state string) {
		t.Helper()
		var at uint64
		until(t, ctx, c, id, func(s client.LogEntry) bool { at = s.Seq; return s.State == state && s.Wakes })
		claimed, err := c.DoAs(ctx, "worker", "claim",
			&pb.Command{Instance: id, Action: &pb.Command_Claim{Claim: &pb.Claim{Agent: "a", Work: at, LeaseMs: 60_000}}})
		if err != nil {
			t.Fatal(err)
		}
		report := &pb.Report{Token: claimed.GetToken(), Result: &pb.Result{Status: "success"}}
		if _, err := c.DoAs(ctx, "worker", "report", &pb.Command{Instance: id, Action: &pb.Command_Report{Report: report}}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Open(ctx, "", "errand", "a", instance.Issue{Title: "t"}); err != nil {
		t.Fatal(err)
	}
	work("a", "go")
	again()
	work("a/chore", "todo")
	again()
	until(t, ctx, c, "a", func(s client.LogEntry) bool { return s.State == "back" })
}

// until returns at the first commit of an instance that holds holds for.
func until(t *testing.T, ctx context.Context, c *client.Client, id string, holds func(client.LogEntry) bool) {
	t.Helper()
	if err := c.Watch(ctx, id, 0, func(s client.LogEntry) error {
		if holds(s) {
			return client.ErrStopWatch
		}
		return nil
	}); err != nil {
		t.Fatalf("%s: %v", id, err)
	}
}
