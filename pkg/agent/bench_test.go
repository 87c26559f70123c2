package agent_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/engine/client"
	store "github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// BenchmarkWork is one piece of work through an agent that does nothing: its
// delivery, claim, report and acknowledgement, over a real server. Who answers
// decides nothing and dispatches the next piece of work at each report.
func BenchmarkWork(b *testing.B) {
	for _, inFlight := range []int{1, 64} {
		b.Run(fmt.Sprintf("in-flight=%d", inFlight), func(b *testing.B) { work(b, inFlight) })
	}
}

func work(b *testing.B, inFlight int) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	server := natstest.Start(b, natstest.Options{})
	js := server.JetStream(b)
	if _, err := store.Open(ctx, js, store.Config{}); err != nil {
		b.Fatal(err)
	}
	filter, err := subject.Work("issue", "received")
	if err == nil {
		err = store.EnsureConsumer(ctx, js, "pm", []string{filter}, store.ConsumerConfig{AckWait: 30 * time.Second})
	}
	if err != nil {
		b.Fatal(err)
	}
	var left atomic.Int64
	answering(b, server.JetStream(b), &left)
	ended := make(chan struct{}, 1<<20)
	nc := server.Connect(b)
	own, err := jetstream.New(nc)
	if err != nil {
		b.Fatal(err)
	}
	a := agent.New(agent.Config{Role: "pm", Name: "pm-1", JetStream: own, Client: client.New(nc, "pm-1"), Workers: inFlight,
		Handler: works(func(context.Context, agent.Job) (instance.Result, error) {
			ended <- struct{}{}
			return instance.Result{Status: instance.Success, ConfidenceScore: 1}, nil
		}), Log: slog.New(slog.DiscardHandler)})
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx) }()

	left.Store(int64(b.N))
	b.ReportAllocs()
	b.ResetTimer()
	from := cpu()
	for range min(inFlight, b.N) {
		dispatch(b, js, &left)
	}
	for range b.N {
		select {
		case <-ended:
		case <-ctx.Done():
			b.Fatal("waited for too long")
		}
	}
	b.ReportMetric(float64(cpu()-from)/float64(b.N), "cpu-ns/op")
	cancel()
	if err := <-done; err != nil {
		b.Error(err)
	}
}

// answering answers each claim, and each report too when it has dispatched more.
func answering(b *testing.B, js jetstream.JetStream, left *atomic.Int64) {
	claimed, err := proto.Marshal(&pb.CommandReply{Seq: 2, Token: 7, Instance: &pb.Instance{Instance: "a", Workflow: "issue", State: "received"},
		Task: &pb.Task{About: "work", Next: []string{"done"}, Policy: map[string]string{"require_tests": "true"}}})
	if err != nil {
		b.Fatal(err)
	}
	reported, err := proto.Marshal(&pb.CommandReply{Seq: 3, Instance: &pb.Instance{Instance: "a", Workflow: "issue", State: "received"}})
	if err != nil {
		b.Fatal(err)
	}
	for name, reply := range map[string][]byte{"claim": claimed, "report": reported} {
		_, err := js.Conn().Subscribe("sb.api.agent.pm."+name, func(msg *nats.Msg) {
			if name == "report" {
				dispatch(b, js, left)
			}
			if err := msg.Respond(reply); err != nil {
				b.Error(err)
			}
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	if err := js.Conn().Flush(); err != nil {
		b.Fatal(err)
	}
}

func dispatch(b *testing.B, js jetstream.JetStream, left *atomic.Int64) {
	if left.Add(-1) < 0 {
		return
	}
	if _, err := js.PublishAsync("sb.evt.work.issue.received.a", nil); err != nil {
		b.Error(err)
	}
}

// cpu is what this process has used so far.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
