package app_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/client"
	"github.com/signalbox/signalbox/pkg/eventstore"
	"github.com/signalbox/signalbox/pkg/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/subject"
	"github.com/signalbox/signalbox/services/orchestrator/orchestratortest"
)

// office is what a client sees of the orchestrators on a server.
type office struct {
	*testing.T
	nc     *nats.Conn
	client *client.Client
	notes  int
}

func newOffice(t *testing.T, s *natstest.Server) *office {
	o := &office{T: t, nc: s.Connect(t)}
	o.client = client.New(o.nc, "operator:ann")
	return o
}

// answering counts the orchestrators that answer.
func (o *office) answering() int {
	o.Helper()
	inbox := o.nc.NewInbox()
	sub, err := o.nc.SubscribeSync(inbox)
	if err == nil {
		err = o.nc.PublishRequest("$SRV.PING.signalbox-orchestrator", inbox, nil)
	}
	if err != nil {
		o.Fatal(err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	for n := 0; ; n++ {
		if m, err := sub.NextMsg(500 * time.Millisecond); err != nil || m.Header.Get("Status") != "" {
			return n
		}
	}
}

// works has something done.
func (o *office) works() {
	o.Helper()
	ctx, cancel := context.WithTimeout(o.Context(), time.Minute)
	defer cancel()
	o.notes++
	if _, err := o.client.Note(ctx, "one", "remark", fmt.Sprint(o.notes)); err != nil {
		o.Fatal(err)
	}
	in, err := o.client.Get(ctx, "one")
	if err != nil || in.GetState() != "received" {
		o.Fatalf("it is in %q, %v", in.GetState(), err)
	}
}

func (o *office) open() {
	o.Helper()
	if _, err := o.client.Open(o.Context(), "", "issue", "one", instance.Issue{Title: "a bug"}); err != nil {
		o.Fatal(err)
	}
}

func TestOneOrchestratorAnswersAndAnotherGoesOn(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	stop := orchestratortest.Start(t, server.URL, 1, orchestratortest.Settings{StandBy: true})
	orchestratortest.Start(t, server.URL, 1, orchestratortest.Settings{StandBy: true})
	o := newOffice(t, server)
	o.open()
	if n := o.answering(); n != 1 {
		t.Fatalf("%d orchestrators answer, want 1", n)
	}
	stop()
	o.works()
	if n := o.answering(); n != 1 {
		t.Errorf("%d orchestrators answer after the other has ended, want 1", n)
	}
}

func TestWithoutStandingByAllAnswer(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	orchestratortest.Start(t, server.URL, 2, orchestratortest.Settings{})
	if n := newOffice(t, server).answering(); n != 2 {
		t.Errorf("%d orchestrators answer, want 2", n)
	}
}

// One who was paused comes back to find that it is not alone: the younger leaves,
// and is there again when it is needed.
func TestTheYoungerStandsByAgainAndComesBack(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	orchestratortest.Start(t, server.URL, 1, orchestratortest.Settings{StandBy: true})
	o := newOffice(t, server)
	o.open()
	elder, err := server.Connect(t).Subscribe(subject.Duty, func(m *nats.Msg) { _ = m.Respond([]byte(`{"id":"elder","since":1}`)) })
	if err != nil {
		t.Fatal(err)
	}
	for looks := 0; o.answering() > 0; looks++ { // each takes its time
		if looks == 60 {
			t.Fatal("it answers on beside its elder")
		}
	}
	if err := elder.Unsubscribe(); err != nil {
		t.Fatal(err)
	}
	o.works()
}

// Who stands by hears how far the log goes: of one that was cut short since then
// it makes nothing longer.
func TestWhoGoesOnDoesNotAppendToALogThatWasCutShort(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	elder, err := server.Connect(t).Subscribe(subject.Duty, func(m *nats.Msg) { _ = m.Respond([]byte(`{"id":"elder","since":1,"known":5}`)) })
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err = service.Serve(ctx, service.Config{
		Service: "orchestrator", Flags: service.Flags{NATS: service.NATS{URL: server.URL}, Grace: 10 * time.Second}, Log: slog.New(slog.DiscardHandler),
		Setup: func(ctx context.Context, h *service.Host) error {
			return errors.Join(orchestratortest.Settings{StandBy: true, AckWait: time.Second, MaxDeliver: 5}.Setup(ctx, h), elder.Unsubscribe())
		},
	})
	if !errors.Is(err, eventstore.ErrCorrupt) {
		t.Errorf("it ended with %v, want %v", err, eventstore.ErrCorrupt)
	}
}
