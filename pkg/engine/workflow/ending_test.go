package workflow_test

import (
	"slices"
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

func TestAStateThatOnlyFailuresLeadToIsToldFromOtherEnds(t *testing.T) {
	defs, err := workflow.Builtins()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range defs {
		for _, name := range d.StateNames() {
			s, _ := d.State(name)
			want := slices.Contains([]string{"failed", "requires_human_intervention", "invalid"}, name) && s.Kind == workflow.Final
			if got := d.EndsInFailure(name); got != want {
				t.Errorf("%s of %s: %v, want %v", name, d.Name, got, want)
			}
		}
	}
}
