package app

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

func TestAnOrchestratorWithoutNATSIsNotOnDuty(t *testing.T) {
	registry, connected := prometheus.NewRegistry(), true
	m := newMetrics(registry, func() bool { return connected })
	expect := func(when, value string) {
		t.Helper()
		if err := testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP signalbox_on_duty 1 while this orchestrator answers, 0 while it stands by or is not connected to NATS.
# TYPE signalbox_on_duty gauge
signalbox_on_duty `+value+"\n"), "signalbox_on_duty"); err != nil {
			t.Errorf("%s: %v", when, err)
		}
	}
	expect("while it stands by", "0")
	m.setActive(true)
	expect("while it is active", "1")
	connected = false
	expect("without NATS", "0")
}

func TestCountersOfKnownLabelsAreThereBeforeTheirFirstEvent(t *testing.T) {
	defs, err := workflow.Builtins()
	if err != nil {
		t.Fatal(err)
	}
	registry := prometheus.NewRegistry()
	newMetrics(registry, func() bool { return true }).expect(defs, []string{"tester"})
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	series := map[string]int{}
	for _, f := range families {
		series[f.GetName()] = len(f.GetMetric())
	}
	for _, name := range []string{"steps", "ended", "work_lapsed", "dead_letters", "timeouts", "statements_refused", "spend_usd", "spend_tokens",
		"stream_settings_changed", "conflicts", "foreign_messages", "false_definitions", "timers_armed"} {
		if series["signalbox_"+name+"_total"] == 0 {
			t.Errorf("signalbox_%s_total has no series", name)
		}
	}
	if all := testutil.CollectAndCount(registry); all > 1000 {
		t.Errorf("%d series are too many", all)
	}
}

func TestClaimedWorkIsCountedByRoleAlsoThatOfBefore(t *testing.T) {
	c := newClaimed()
	of := func(id, role string) instance.Instance {
		in := instance.Instance{ID: id}
		if role != "" {
			in.Claim = &instance.ActiveClaim{Role: role}
		}
		return in
	}
	expect := func(when string, testers, developers float64) {
		t.Helper()
		if a, b := testutil.ToFloat64(c.gauge.WithLabelValues("tester")), testutil.ToFloat64(c.gauge.WithLabelValues("developer")); a != testers || b != developers {
			t.Errorf("%s: testers have %v, developers %v; want %v, %v", when, a, b, testers, developers)
		}
	}
	c.reset(map[string]bool{})
	c.note(of("b", "")) // ended while the others were listed
	c.take([]instance.Instance{of("a", "tester"), of("b", "tester"), of("c", "developer")})
	expect("at the start", 1, 1)
	c.note(of("a", "developer"))
	expect("after a hand-over", 0, 2)
	c.note(of("a", "developer"))
	c.note(of("c", ""))
	expect("after a heartbeat and an end", 0, 1)
	c.reset(nil)
	expect("after the term", 0, 0)
}
