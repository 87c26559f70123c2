package app_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/orchestrator/orchestratortest"
)

// env is a client of the orchestrators on a server.
type env struct {
	*testing.T
	nc     *nats.Conn
	client *client.Client
	notes  int // number of notes sent
}

func newEnv(t *testing.T, s *natstest.Server) *env {
	e := &env{T: t, nc: s.Connect(t)}
	e.client = client.New(e.nc, "operator:ann")
	return e
}

// activeCount counts the orchestrators that answer.
func (e *env) activeCount() int {
	e.Helper()
	inbox := e.nc.NewInbox()
	sub, err := e.nc.SubscribeSync(inbox)
	if err == nil {
		err = e.nc.PublishRequest("$SRV.PING.signalbox-orchestrator", inbox, nil)
	}
	if err != nil {
		e.Fatal(err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	for n := 0; ; n++ {
		if m, err := sub.NextMsg(500 * time.Millisecond); err != nil || m.Header.Get("Status") != "" {
			return n
		}
	}
}

// sendNote has a command carried out.
func (e *env) sendNote() {
	e.Helper()
	ctx, cancel := context.WithTimeout(e.Context(), time.Minute)
	defer cancel()
	e.notes++
	if _, err := e.client.Note(ctx, "one", "remark", fmt.Sprint(e.notes)); err != nil {
		e.Fatal(err)
	}
	in, err := e.client.Get(ctx, "one")
	if err != nil || in.GetState() != "received" {
		e.Fatalf("it is in %q, %v", in.GetState(), err)
	}
}

func (e *env) open() {
	e.Helper()
	if _, err := e.client.Open(e.Context(), "", "issue", "one", instance.Issue{Title: "a bug"}); err != nil {
		e.Fatal(err)
	}
}

func TestOneOrchestratorAnswersAndAnotherTakesOver(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	stop := orchestratortest.Start(t, server.URL, 1, orchestratortest.Settings{StandBy: true})
	orchestratortest.Start(t, server.URL, 1, orchestratortest.Settings{StandBy: true})
	e := newEnv(t, server)
	e.open()
	if n := e.activeCount(); n != 1 {
		t.Fatalf("%d orchestrators answer, want 1", n)
	}
	stop()
	e.sendNote()
	if n := e.activeCount(); n != 1 {
		t.Errorf("%d orchestrators answer after the other has ended, want 1", n)
	}
}

func TestWithoutStandingByAllAnswer(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	orchestratortest.Start(t, server.URL, 2, orchestratortest.Settings{})
	if n := newEnv(t, server).activeCount(); n != 2 {
		t.Errorf("%d orchestrators answer, want 2", n)
	}
}

// After a pause an orchestrator may find that another one is active.
func TestTheYoungerStandsByAgainAndBecomesActiveLater(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	orchestratortest.Start(t, server.URL, 1, orchestratortest.Settings{StandBy: true})
	e := newEnv(t, server)
	e.open()
	older, err := server.Connect(t).Subscribe(subject.ActiveOrchestrator,
		func(m *nats.Msg) { _ = m.Respond([]byte(`{"id":"older","since":1}`)) })
	if err != nil {
		t.Fatal(err)
	}
	for looks := 0; e.activeCount() > 0; looks++ { // each takes its time
		if looks == 60 {
			t.Fatal("it goes on answering beside an older one")
		}
	}
	if err := older.Unsubscribe(); err != nil {
		t.Fatal(err)
	}
	e.sendNote()
}

// The active orchestrator's replies say how far the log goes.
func TestAnOrchestratorThatStoodByDoesNotAppendToALogThatWasTruncated(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	older, err := server.Connect(t).Subscribe(subject.ActiveOrchestrator,
		func(m *nats.Msg) { _ = m.Respond([]byte(`{"id":"older","since":1,"known":5}`)) })
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err = service.Serve(ctx, service.Config{
		Service: "orchestrator", Flags: service.Flags{NATS: service.NATS{URL: server.URL}, Grace: 10 * time.Second},
		Log: slog.New(slog.DiscardHandler),
		Setup: func(ctx context.Context, h *service.Host) error {
			return errors.Join(orchestratortest.Settings{StandBy: true, AckWait: time.Second, MaxDeliver: 5}.Setup(ctx, h), older.Unsubscribe())
		},
	})
	if !errors.Is(err, eventstore.ErrCorrupt) {
		t.Errorf("it ended with %v, want %v", err, eventstore.ErrCorrupt)
	}
}
