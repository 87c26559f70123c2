package main

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/engine/client"
	store "github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/logcheck"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/orchestrator/app"
	"github.com/signalbox/signalbox/services/orchestrator/orchestratortest"
)

const queue = `
workflow: queue
version: 1
initial: todo
vars: {urgency: 3}
order: [vars.urgency]
states:
  todo:
    about: Something is to be done.
    owner: worker
    next: [check]
    decide: [{to: check, reason: it is done}]
  check:
    about: A person looks at it.
    owner: judge
    next: [done]
    decide: [{to: done, reason: it is well}]
  done: {about: It is done., final: true}
`

// countingHandler succeeds, but for an infrastructure fault every hundred jobs.
type countingHandler struct{ done atomic.Int64 }

func (h *countingHandler) Work(_ context.Context, job agent.Job) (instance.Result, error) {
	if n := h.done.Add(1); n%100 == 0 {
		return instance.Result{}, fmt.Errorf("%w: the disk is full", brain.ErrInfrastructure)
	}
	return instance.Result{Status: instance.Success, ConfidenceScore: 1, Summary: job.Instance}, nil
}

// Forty agents claim the work of six hundred instances of four urgencies, which arrive meanwhile, from
// the queues of a real server. The log shows whether a claim ever got work while more urgent work was ready.
func TestTheMostUrgentIsTakenFirst(t *testing.T) {
	for _, c := range []struct{ replicas, instances int }{{1, 600}, {3, 200}} {
		t.Run(fmt.Sprintf("with %d orchestrators", c.replicas), func(t *testing.T) { load(t, c.replicas, c.instances) })
	}
}

func load(t *testing.T, replicas, instances int) {
	const workers, judges = 30, 10
	server := natstest.Start(t, natstest.Options{})
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "queue.yaml"), []byte(queue), 0o644); err != nil {
		t.Fatal(err)
	}
	orchestratortest.Start(t, server.URL, replicas, app.Settings{WorkflowDir: dir, AckWait: 30 * time.Second})
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	var opening sync.WaitGroup
	open := func(opener, n int) {
		c, dice := client.New(server.Connect(t), "operator:test"), rand.New(rand.NewPCG(3, uint64(opener)))
		for i := range n {
			if _, err := c.OpenWith(ctx, "", fmt.Sprintf("%d-%d", opener, i), &pb.Open{
				Workflow: "queue", Issue: &pb.Issue{Title: "t"}, Vars: map[string]string{"urgency": fmt.Sprint(dice.IntN(4))}}); err != nil {
				t.Error(err)
			}
		}
	}
	open(0, instances/4) // some are there when they begin
	for opener := range 3 {
		opening.Go(func() { open(opener+1, instances/4) })
	}
	running, stop := context.WithCancel(ctx)
	defer stop()
	var agents sync.WaitGroup
	for role, n := range map[string]int{"worker": workers, "judge": judges} {
		a := agent.New(agent.Config{Role: role, Name: role, JetStream: server.JetStream(t), Client: client.New(server.Connect(t), role),
			Handler: new(countingHandler), Workers: n, Log: slog.New(slog.DiscardHandler)})
		agents.Go(func() {
			if err := a.Run(running); err != nil {
				t.Error(err)
			}
		})
	}
	ended := 0
	err := client.New(server.Connect(t), "").Watch(ctx, "", 0, func(seen client.LogEntry) error {
		if seen.State == "done" {
			ended++
		}
		if ended == instances {
			return client.ErrStopWatch
		}
		return nil
	})
	if err != nil {
		t.Fatalf("%d of %d have ended: %v", ended, instances, err)
	}
	opening.Wait()
	stop()
	agents.Wait()
	checkOrder(t, ctx, server, replicas == 1)
}

// checkOrder checks the log of a load.
func checkOrder(t *testing.T, ctx context.Context, server *natstest.Server, exact bool) {
	t.Helper()
	def, err := workflow.Load("queue.yaml", []byte(queue))
	if err != nil {
		t.Fatal(err)
	}
	find := workflow.NewCatalog(def).Hashed
	log, err := store.Open(ctx, server.JetStream(t), store.Config{})
	if err != nil {
		t.Fatal(err)
	}
	order, err := logcheck.CheckOrder(ctx, log, find)
	if err != nil {
		t.Fatal(err)
	}
	report, err := logcheck.Check(ctx, log, find)
	if err != nil || len(report.Violations) > 0 {
		t.Errorf("%v, %v", report.Violations, err)
	}
	t.Logf("%d commits, %d claims, %d with a choice, %d of them not the most urgent", report.Commits, order.Claims, order.Choices,
		len(order.Violations()))
	for _, v := range order.Violations() {
		if exact {
			t.Error(v)
		}
	}
	if exact && order.Choices < order.Claims/10 {
		t.Errorf("only %d of %d claims had a choice: this proves little", order.Choices, order.Claims)
	}
}
