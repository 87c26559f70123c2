package app

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/signalbox/signalbox/pkg/forge/command"
	"github.com/signalbox/signalbox/services/gateway/change"
)

func TestCountersOfKnownLabelsBeginAtNought(t *testing.T) {
	r := prometheus.NewRegistry()
	newHandled(r)
	given0(newGiven(r), "acme/widgets", command.Verbs())
	for name, want := range map[string]int{
		"signalbox_gateway_deliveries_handled_total": 5 * len(change.Events()),
		"signalbox_gateway_commands_total":           2 * (1 + len(command.Verbs())),
	} {
		if n, err := testutil.GatherAndCount(r, name); n != want || err != nil {
			t.Errorf("%s has %d series at the start, want %d: %v", name, n, want, err)
		}
	}
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if v := m.GetCounter().GetValue(); v != 0 {
				t.Errorf("%s begins with %v", f.GetName(), v)
			}
		}
	}
}
