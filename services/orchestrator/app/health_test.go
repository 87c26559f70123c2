package app_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/signalbox/signalbox/pkg/engine/client"
	store "github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/service"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/orchestrator/orchestratortest"
)

// hosted is an orchestrator whose health and metrics can be read.
type hosted struct {
	*testing.T
	*service.Host
	ctx context.Context
}

// host runs an orchestrator until the test ends.
func host(t *testing.T, url string) hosted {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ready, ended := make(chan *service.Host, 1), make(chan error, 1)
	go func() {
		ended <- service.Serve(ctx, service.Config{
			Service: "orchestrator", Flags: service.Flags{NATS: service.NATS{URL: url}, Grace: 10 * time.Second}, Log: slog.New(slog.DiscardHandler),
			Setup: func(ctx context.Context, h *service.Host) error {
				err := orchestratortest.Settings{AckWait: 30 * time.Second, MaxDeliver: 5}.Setup(ctx, h)
				ready <- h
				return err
			},
		})
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	within, stop := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(stop)
	return hosted{t, <-ready, within}
}

// gauge returns the value of a metric, -1 if there is none.
func (h hosted) gauge(name string) float64 {
	h.Helper()
	all, err := h.Metrics.Gather()
	if err != nil {
		h.Fatal(err)
	}
	for _, f := range all {
		if f.GetName() == name {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	return -1
}

// until waits until the health is as wanted.
func (h hosted) until(what string, wanted func(service.Readiness) bool) {
	h.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !wanted(h.Health.Ready(h.ctx)) {
		select {
		case <-tick.C:
		case <-h.ctx.Done():
			h.Fatalf("%s: it is %+v", what, h.Health.Ready(context.Background()))
		}
	}
}

func TestFullStorageIsNamedByHealthAndMetrics(t *testing.T) {
	s := natstest.Start(t, natstest.Options{Change: func(o *server.Options) { o.JetStreamMaxStore = 3 << 20 }})
	h := host(t, s.URL)
	h.until("before", func(r service.Readiness) bool { return r.Ready })
	if got := h.gauge("signalbox_storage_full"); got != 0 {
		t.Fatalf("before, signalbox_storage_full is %v", got)
	}
	c, body := client.New(s.Connect(t), "operator:ann"), strings.Repeat("word ", 10_000)
	opening, stop := context.WithCancel(h.ctx)
	defer stop()
	filled := make(chan struct{})
	go func() {
		defer close(filled)
		for n := range 200 {
			if _, err := c.Open(opening, "", "issue", "i"+string(rune('a'+n%26))+strings.Repeat("x", n/26), instance.Issue{Title: "t", Body: body}); err != nil {
				return
			}
		}
	}()
	h.until("when it is full", func(r service.Readiness) bool { return !r.Ready && strings.Contains(r.Reasons["storage"], "make room") })
	if got := h.gauge("signalbox_storage_full"); got != 1 {
		t.Errorf("when it is full, signalbox_storage_full is %v", got)
	}
	stop()
	<-filled
}

func TestADefinitionThatCannotBeLoadedIsNamedByHealthAndMetrics(t *testing.T) {
	s := natstest.Start(t, natstest.Options{})
	orchestratortest.Start(t, s.URL, 1, orchestratortest.Settings{})() // makes the bucket
	kv, err := s.JetStream(t).KeyValue(t.Context(), store.DefinitionBucket)
	if err != nil {
		t.Fatal(err)
	}
	newer := []byte(strings.Replace(chore, "owner: worker", "owner: worker\n    work: {does: move_mountains}", 1))
	sum := sha256.Sum256(newer)
	hash := hex.EncodeToString(sum[:])
	if err := store.PutDefinition(t.Context(), kv, hash, newer); err != nil {
		t.Fatal(err)
	}
	h := host(t, s.URL)
	h.until("with it", func(r service.Readiness) bool {
		return r.Ready && strings.Contains(r.Warnings["definitions"], hash[:12]) && strings.Contains(r.Warnings["definitions"], "move_mountains")
	})
	if got := h.gauge("signalbox_definitions_unreadable"); got != 1 {
		t.Errorf("signalbox_definitions_unreadable is %v", got)
	}
	c := client.New(s.Connect(t), "operator:ann")
	answered(t, c, "definitions", "warn", "move_mountains", "run the version that stored them or a newer one")
	if _, err := c.Definition(t.Context(), hash); err == nil || !strings.Contains(err.Error(), "move_mountains") {
		t.Errorf("who asks for it is answered %v", err)
	}
}

func TestWorkThatNoAgentTakesIsNamedByHealthAndMetrics(t *testing.T) {
	s := natstest.Start(t, natstest.Options{})
	h := host(t, s.URL)
	c := client.New(s.Connect(t), "operator:ann")
	if _, err := c.Open(h.ctx, "", "issue", "a", instance.Issue{Title: "t"}); err != nil {
		t.Fatal(err)
	}
	h.until("without a pm", func(r service.Readiness) bool { return r.Ready && strings.Contains(r.Warnings["agents"], "pm (1)") })
	js := s.JetStream(t)
	pm, err := js.Consumer(h.ctx, "EVENTS", "pm")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pm.Next(); err != nil { // as an agent takes it
		t.Fatal(err)
	}
	h.until("with a pm", func(r service.Readiness) bool { return r.Warnings["agents"] == "" })
	idle := func() int64 {
		roles, err := c.Agents(h.ctx)
		at := slices.IndexFunc(roles, func(r *pb.RoleWork) bool { return r.GetRole() == "pm" })
		if err != nil || at < 0 {
			t.Fatalf("the roles are %v, %v", roles, err)
		}
		return roles[at].GetIdle()
	}
	if n := idle(); n != 0 {
		t.Errorf("%d agents wait, want none", n)
	}
	waits, err := pm.Messages() // as an agent that has nothing to do
	if err != nil {
		t.Fatal(err)
	}
	defer waits.Stop()
	go func() { _, _ = waits.Next() }() // ends with Stop
	h.until("with an idle pm", func(service.Readiness) bool { return idle() == 1 })
}

// answered waits until the orchestrator answers a check as wanted.
func answered(t *testing.T, c *client.Client, check, status, detail, advice string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		checks, err := c.Health(ctx)
		for _, one := range checks {
			if one.GetCheck() == check && one.GetStatus() == status && strings.Contains(one.GetDetail(), detail) && strings.Contains(one.GetAdvice(), advice) {
				return
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("%s never becomes %s %q: it is %v, %v", check, status, detail, checks, err)
		}
	}
}

func TestOrchestratorsThatStandByAreCounted(t *testing.T) {
	s := natstest.Start(t, natstest.Options{})
	orchestratortest.Start(t, s.URL, 1, orchestratortest.Settings{StandBy: true})
	c := client.New(s.Connect(t), "operator:ann")
	answered(t, c, "orchestrator", "ok", "one is active, and none stands by", "start another one")
	stop := orchestratortest.Start(t, s.URL, 2, orchestratortest.Settings{StandBy: true})
	answered(t, c, "orchestrator", "ok", "one is active, and 2 stand by", "")
	stop()
	answered(t, c, "orchestrator", "ok", "none stands by", "")
}

func TestAForeignMessageInTheLogIsACheckThatWarns(t *testing.T) {
	s := natstest.Start(t, natstest.Options{})
	orchestratortest.Start(t, s.URL, 1, orchestratortest.Settings{})
	c := client.New(s.Connect(t), "operator:ann")
	answered(t, c, "log", "ok", "0 commits", "")
	if _, err := s.JetStream(t).Publish(t.Context(), "sb.evt.foreign.x.y", []byte("not ours")); err != nil {
		t.Fatal(err)
	}
	answered(t, c, "log", "warn", "1 messages in it are no commits", "find who may publish on sb.evt.>")
}
