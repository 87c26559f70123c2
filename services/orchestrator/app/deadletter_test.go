package app

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"

	store "github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// recorder sends what is logged to a channel. It implements slog.Handler.
type recorder chan map[string]any

func (recorder) Enabled(context.Context, slog.Level) bool { return true }
func (r recorder) WithAttrs([]slog.Attr) slog.Handler     { return r }
func (r recorder) WithGroup(string) slog.Handler          { return r }
func (r recorder) Handle(_ context.Context, rec slog.Record) error {
	all := map[string]any{"": rec.Message}
	rec.Attrs(func(a slog.Attr) bool { all[a.Key] = a.Value.Any(); return true })
	r <- all
	return nil
}

func TestADeadLetterIsLoggedAndCountedOnce(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	js := server.JetStream(t)
	dead, err := store.EnsureDead(ctx, js, 1)
	if err != nil {
		t.Fatal(err)
	}
	advise := func(subject, body string) {
		t.Helper()
		for { // a server that just came back may lose it; the message id keeps it from being there twice
			one, cancel := context.WithTimeout(ctx, time.Second)
			_, err := js.Publish(one, subject, []byte(body), jetstream.WithMsgID(subject))
			cancel()
			if ctx.Err() != nil {
				t.Fatal(err)
			}
			if err == nil {
				return
			}
		}
	}
	advise("$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.EVENTS.tester", `{"stream_seq":1,"deliveries":50}`) // before our time
	registry := prometheus.NewRegistry()
	logs, ended := make(recorder, 100), make(chan error, 1)
	running, stop := context.WithCancel(ctx)
	go func() {
		ended <- watchDeadLetters(running, slog.New(logs), js, newMetrics(registry, func() bool { return true }))
	}()
	for { // it has looked where the stream ends
		info, err := dead.Info(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if info.State.Consumers > 0 {
			break
		}
	}
	advise("$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.EVENTS.developer", `{"stream_seq":7,"deliveries":50}`)
	letter := func() map[string]any { // it may also say that the server is slow
		t.Helper()
		for {
			select {
			case said := <-logs:
				if said["role"] != nil {
					return said
				}
			case err := <-ended:
				t.Fatalf("it ended with %v", err)
			case <-ctx.Done():
				t.Fatal("no dead letter was logged")
			}
		}
	}
	first := letter()
	if first["role"] != "developer" || first["work"] != uint64(7) || first["deliveries"] != int64(50) || first["refused"] != false {
		t.Errorf("logged %v", first)
	}
	server.Restart(t)
	advise("$JS.EVENT.ADVISORY.CONSUMER.MSG_TERMINATED.EVENTS.pm", `{"stream_seq":9,"deliveries":1,"reason":"not a subject"}`)
	second := letter()
	if second["role"] != "pm" || second["work"] != uint64(9) || second["refused"] != true || second["reason"] != "not a subject" {
		t.Errorf("logged %v", second)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != "signalbox_dead_letters_total" {
			continue
		}
		for _, m := range f.GetMetric() {
			if role := m.GetLabel()[0].GetValue(); role == "tester" || m.GetCounter().GetValue() != 1 {
				t.Errorf("counted %v of %s", m.GetCounter().GetValue(), role)
			}
		}
	}
	server.Stop()
	stop() // also while there is no server
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestWhatAReplicaDecidedIsCounted(t *testing.T) {
	registry := prometheus.NewRegistry()
	m := newMetrics(registry, func() bool { return true })
	at := time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC)
	before := instance.Instance{Workflow: "issue", State: "received", EnteredAt: at}
	m.committed(before, instance.Instance{}, instance.Commit{At: at.Add(2 * time.Second), Events: []instance.Event{instance.Claimed{}}})
	claimed := before
	claimed.Claim = &instance.ActiveClaim{}
	m.committed(claimed, instance.Instance{},
		instance.Commit{At: at.Add(3 * time.Second), Events: []instance.Event{instance.Claimed{}}}) // again
	m.committed(claimed, instance.Instance{}, instance.Commit{At: at.Add(9 * time.Second), Events: []instance.Event{
		instance.Reported{State: "received", Result: instance.Result{Status: instance.Success}}, instance.Moved{From: "received", To: "next"}}})
	m.committed(claimed, instance.Instance{},
		instance.Commit{At: at.Add(9 * time.Second), Events: []instance.Event{instance.TimedOut{State: "received", Level: workflow.Alert}}})
	m.committed(claimed, instance.Instance{Workflow: "issue"},
		instance.Commit{At: at.Add(9 * time.Second), Events: []instance.Event{ // directly
			instance.Reported{State: "received"}, instance.Moved{From: "received", To: "next"}, instance.Dispatched{State: "next"},
			instance.Claimed{Direct: true}}})
	claimed.Direct = true
	m.committed(claimed, instance.Instance{},
		instance.Commit{At: at.Add(99 * time.Second), Events: []instance.Event{instance.Dispatched{State: "received", Owner: "pm"}}})
	m.committed(claimed, instance.Instance{Workflow: "issue"}, instance.Commit{At: at.Add(99 * time.Second), Events: []instance.Event{
		instance.StatementRefused{What: instance.RefusedEvidence, Name: "tests", Role: "developer", Agent: "d-1"}}})
	m.answered("claim", "held", time.Millisecond)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, one := range f.GetMetric() {
			if h := one.GetHistogram(); h != nil {
				got[f.GetName()+" count"] += float64(h.GetSampleCount())
				got[f.GetName()+" sum"] += h.GetSampleSum()
			}
			got[f.GetName()] += one.GetCounter().GetValue()
		}
	}
	for name, want := range map[string]float64{
		"signalbox_claim_wait_seconds count": 2, "signalbox_claim_wait_seconds sum": 2, "signalbox_state_seconds count": 2,
		"signalbox_state_seconds sum": 18, "signalbox_steps_total": 2, "signalbox_work_lapsed_total": 1, "signalbox_request_seconds count": 1,
		"signalbox_timeouts_total": 1,
	} {
		if got[name] != want {
			t.Errorf("%s is %v, want %v", name, got[name], want)
		}
	}
}

func TestADeadlineThatPassedIsLogged(t *testing.T) {
	logs := make(recorder, 10)
	in := instance.Instance{ID: "a", Workflow: "task", Owner: "cto"}
	logOverdue(slog.New(logs), in, instance.Commit{Events: []instance.Event{
		instance.TimedOut{State: "planning", Level: workflow.Escalation, After: time.Hour}, instance.Moved{From: "planning"},
	}})
	got := <-logs
	if got["instance"] != "a" || got["state"] != "planning" || got["level"] != workflow.Escalation || got["after"] != time.Hour ||
		len(logs) > 0 {
		t.Errorf("logged %v and %d more", got, len(logs))
	}
}
