package app

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
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
