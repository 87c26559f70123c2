package api_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/memory"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/service/access"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/orchestrator/api"
)

// there is a lifecycle that goes to and fro.
const there = `
workflow: there
version: 1
initial: there
policy: {most: 100000000}
limits: [{name: enough, when: "instance.returns >= policy.most", to: [done]}]
states:
  there: {owner: noop, next: [back, done], decide: [{to: back}]}
  back: {owner: noop, next: [there, done], decide: [{to: there}]}
  done: {final: true}
`

// BenchmarkStep is a claim and a report, each a request over a real server to a
// log in memory: what a step costs but for its storage and its delivery.
func BenchmarkStep(b *testing.B) {
	for _, inFlight := range []int{1, 64} {
		b.Run(fmt.Sprintf("in-flight=%d", inFlight), func(b *testing.B) { steps(b, inFlight, 0) })
	}
	b.Run("in-flight=64/old", func(b *testing.B) { steps(b, 64, 1000) })
}

// serve returns the engine of an API over a log in memory, and a connection to it.
func serve(b *testing.B, defs ...*workflow.Definition) (context.Context, *engine.Engine, *nats.Conn) {
	b.Helper()
	store, c := memory.New(), catalog{workflow.NewCatalog(defs...)}
	e := engine.New(engine.Config{Store: store, Definitions: c, Now: time.Now})
	ctx, stop := context.WithCancel(context.Background())
	caught, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- e.Follow(ctx, func() { close(caught) }) }()
	b.Cleanup(func() { stop(); <-ended })
	<-caught
	on := natstest.Start(b, natstest.Options{})
	server, err := api.Serve(api.Config{
		Conn: on.Connect(b), Entry: access.Shared(), Engine: e, Store: store, Definitions: c, Version: api.Version, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = server.Close() })
	return ctx, e, on.Connect(b)
}

// steps runs them, after as many of each instance that do not count.
func steps(b *testing.B, inFlight, before int) {
	def, err := workflow.Load("there", []byte(there))
	if err != nil {
		b.Fatal(err)
	}
	ctx, e, nc := serve(b, def)
	cl := client.New(nc, "noop-1")

	run := func(n int) {
		var left atomic.Int64
		left.Store(int64(n))
		ends := make(chan error, inFlight)
		for i := range inFlight {
			go func() {
				err := error(nil)
				for left.Add(-1) >= 0 && err == nil {
					err = step(ctx, cl, e, fmt.Sprintf("acme/widgets/%d", i))
				}
				ends <- err
			}()
		}
		for range inFlight {
			if err := <-ends; err != nil {
				b.Fatal(err)
			}
		}
	}
	for i := range inFlight {
		if _, err := cl.Open(ctx, "", "there", fmt.Sprintf("acme/widgets/%d", i), instance.Issue{Title: "t"}); err != nil {
			b.Fatal(err)
		}
	}
	run(before * inFlight)
	b.ReportAllocs()
	b.ResetTimer()
	from := cpu()
	run(b.N)
	b.ReportMetric(float64(cpu()-from)/float64(b.N), "cpu-ns/op")
}

func step(ctx context.Context, cl *client.Client, e *engine.Engine, id string) error {
	now, err := e.Get(ctx, id)
	if err != nil {
		return err
	}
	reply, err := cl.DoAs(ctx, "noop", "claim", &pb.Command{Instance: id, Action: &pb.Command_Claim{
		Claim: &pb.Claim{Agent: "noop-1", Work: now.Work, LeaseMs: 30000}}})
	if err != nil {
		return err
	}
	_, err = cl.DoAs(ctx, "noop", "report", &pb.Command{Instance: id, Action: &pb.Command_Report{
		Report: &pb.Report{Token: reply.GetToken(), Result: &pb.Result{Status: "success", ConfidenceScore: 1}}}})
	return err
}

// cpu is what this process has used so far.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
