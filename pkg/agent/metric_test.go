package agent_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain"
	store "github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

func TestWorkIsCountedByStateAndHowItEnded(t *testing.T) {
	registry := prometheus.NewRegistry()
	seen := told{started: make(chan agent.Job, 10), progress: make(chan string, 10)}
	all := agent.Observers{agent.NewMetrics(registry, "tester"), nil, seen}
	job := agent.Job{Assignment: brain.Assignment{Instance: "a", State: "running_tests"}}
	all.Started(job)
	all.Started(job)
	all.Progressed(job, "halfway")
	all.Ended(job, instance.Result{Status: instance.Failure}, errBroken, time.Second)
	if len(seen.started) != 2 || <-seen.progress != "a: halfway" {
		t.Error("the other observer was not told")
	}
	all.Ended(job, instance.Result{}, errBroken, time.Second)
	all.Started(job)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	counts, busy := map[string]uint64{}, 0.0
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == "signalbox_agent_busy" {
				busy = m.GetGauge().GetValue()
			}
			for _, l := range m.GetLabel() {
				if l.GetName() == "result" {
					counts[l.GetValue()] = m.GetHistogram().GetSampleCount()
				}
			}
		}
	}
	if busy != 1 {
		t.Errorf("%v are under way", busy)
	}
	if counts["failure"] != 1 || counts["given_back"] != 1 || len(counts) != 2 {
		t.Errorf("counted %v", counts)
	}
}

func TestWorkThatShowsNoSignIsMeasured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := prometheus.NewRegistry()
		m := agent.NewMetrics(registry, "developer")
		quiet := func() float64 {
			families, err := registry.Gather()
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range families {
				if f.GetName() == "signalbox_agent_quiet_seconds" {
					return f.GetMetric()[0].GetGauge().GetValue()
				}
			}
			t.Fatal("nothing is measured")
			return 0
		}
		a, b := agent.Job{Assignment: brain.Assignment{Instance: "a"}}, agent.Job{Assignment: brain.Assignment{Instance: "b"}}
		m.Started(a)
		time.Sleep(4 * time.Minute)
		m.Started(b)
		if got := quiet(); got != 240 {
			t.Errorf("after 4 minutes without a line it is quiet for %v s", got)
		}
		m.Progressed(a, "reading")
		time.Sleep(time.Minute)
		if got := quiet(); got != 60 {
			t.Errorf("a minute after a line it is quiet for %v s", got)
		}
		m.Ended(a, instance.Result{Status: instance.Success}, nil, time.Second)
		m.Ended(b, instance.Result{}, errBroken, time.Second)
		if got := quiet(); got != 0 {
			t.Errorf("without work it is quiet for %v s", got)
		}
	})
}

func TestObjectsAreWhatWasPutThere(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	bucket, err := store.EnsureObjects(ctx, server.JetStream(t), 1)
	if err != nil {
		t.Fatal(err)
	}
	objects := agent.Objects{Store: bucket}
	const name = "git/acme%2Fwidgets/c0ffee"
	for range 2 {
		if err := objects.Put(ctx, name, strings.NewReader("content")); err != nil {
			t.Fatal(err)
		}
	}
	r, err := objects.Get(ctx, name)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	if _, err := io.Copy(&got, r); err != nil || got.String() != "content" {
		t.Errorf("got %q, %v", got.String(), err)
	}
	if _, err := objects.Get(ctx, "nothing"); !errors.Is(err, brain.ErrInfrastructure) || !strings.Contains(err.Error(), "nothing") {
		t.Errorf("what is not there is answered %v", err)
	}
	server.Stop()
	short, stop := context.WithTimeout(ctx, 300*time.Millisecond)
	defer stop()
	if err := objects.Put(short, name, strings.NewReader("content")); !errors.Is(err, brain.ErrInfrastructure) {
		t.Errorf("without a server it is answered %v", err)
	}
}
