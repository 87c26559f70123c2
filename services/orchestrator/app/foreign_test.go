package app_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/orchestrator/orchestratortest"
)

// lockedText is what a log wrote. It is safe for concurrent use.
type lockedText struct {
	mu    sync.Mutex
	text  bytes.Buffer
	wrote chan struct{} // gets a value after a write, if it has room
}

func (l *lockedText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case l.wrote <- struct{}{}:
	default:
	}
	return l.text.Write(p)
}

// await returns when all of the texts have been written, or ctx ends.
func (l *lockedText) await(ctx context.Context, t *testing.T, texts ...string) {
	t.Helper()
	for _, want := range texts {
		for !strings.Contains(l.String(), want) {
			select {
			case <-l.wrote:
			case <-ctx.Done():
				t.Fatalf("the log does not say %s:\n%s", want, l)
			}
		}
	}
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Whoever can publish on sb.evt.> can write messages, and stops nothing: not before the first start, not
// between two commits, not on the subjects of an instance, not as work in a queue, not at a restart.
func TestWorkGoesOnPastForeignMessages(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := client.New(server.Connect(t), "operator:ann")
	js := server.JetStream(t)
	log := new(lockedText)
	run := func() (stop func()) {
		return orchestratortest.StartLogged(t, server.URL, 1, orchestratortest.Settings{WorkflowDir: lifecycles(t, chore), StandBy: true},
			slog.New(slog.NewJSONHandler(log, nil)))
	}
	intrude := func(subject string) {
		t.Helper()
		if _, err := js.Publish(ctx, subject, []byte("\x1b[2Jhm")); err != nil {
			t.Fatal(err)
		}
	}
	stop := run()
	intrude("sb.evt.note.chore.done.a")
	_, err := c.Open(ctx, "", "chore", "a", instance.Issue{Title: "t"})
	if err != nil {
		t.Fatalf("an instance with a message on its subjects is not opened: %v", err)
	}
	intrude("sb.evt.work.chore.todo.a")
	intrude("sb.evt.note.chore.done.a")
	intrude("sb.evt.junk")
	queue, err := js.Consumer(ctx, "EVENTS", "worker")
	if err != nil {
		t.Fatal(err)
	}
	claim := func(msg jetstream.Msg) (*pb.CommandReply, error) {
		meta, err := msg.Metadata()
		if err != nil {
			t.Fatal(err)
		}
		return c.DoAs(ctx, "worker", "claim", &pb.Command{Instance: "a", Action: &pb.Command_Claim{
			Claim: &pb.Claim{Agent: "w", Work: meta.Sequence.Stream, LeaseMs: 60_000}}})
	}
	var token uint32
	for range 2 { // the work, and what pretends to be
		msg, err := queue.Next()
		if err != nil {
			t.Fatal(err)
		}
		meta, _ := msg.Metadata()
		reply, err := claim(msg)
		switch {
		case meta.Sequence.Stream == 2 && err != nil:
			t.Fatalf("the work is not given: %v", err)
		case meta.Sequence.Stream == 2:
			token = reply.GetToken()
		case err == nil:
			t.Fatal("a message that is no commit is work")
		}
	}
	stop()
	intrude("sb.evt.note.chore.todo.a")
	stop = run() // from a snapshot
	if _, err := c.DoAs(ctx, "worker", "report", &pb.Command{Instance: "a", Action: &pb.Command_Report{
		Report: &pb.Report{Token: token, Result: &pb.Result{Status: "success"}}}}); err != nil {
		t.Fatalf("after a restart: %v", err)
	}
	if in, err := c.Get(ctx, "a"); err != nil || in.State != "done" {
		t.Errorf("it is in %q, %v", in.State, err)
	}
	var seen []uint64
	err = c.Watch(ctx, "a", 0, func(e client.LogEntry) error {
		seen = append(seen, e.Seq)
		if len(seen) == 3 {
			return client.ErrStopWatch
		}
		return nil
	})
	if err != nil || seen[0] != 2 {
		t.Errorf("watch sees %v, %v", seen, err)
	}
	stop()
	text := log.String()
	for _, want := range []string{
		`"sequence":1,"subject":"\"sb.evt.note.chore.done.a\"","bytes":6,"first":"\"\\x1b[2Jhm\"","since":"2`, `"sequence":5`, `"level":"ERROR"`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the log has no %s", want)
		}
	}
	if n := strings.Count(text, "no commit of ours"); n != 5 {
		t.Errorf("the log names %d, want 5, each once:\n%s", n, text)
	}
}
