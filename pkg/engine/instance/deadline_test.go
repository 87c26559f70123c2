package instance_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

func TestTheNextDeadlineIsTheFirstThatNobodyWasToldOf(t *testing.T) {
	def := define(t, rich)
	expire := func(l workflow.Level) step {
		return func(s *fixture) error { return do(instance.Expire{Entered: s.in.Entered, Level: l})(s) }
	}
	for _, c := range []struct {
		name  string
		given []step
		level workflow.Level
		after time.Duration // the opening
	}{
		{"the warning at first", []step{opened()}, workflow.Warning, 8 * time.Minute},
		{"then the alert", []step{opened(), wait(9 * time.Minute), expire(workflow.Warning)}, workflow.Alert, 10 * time.Minute},
		{"the escalation after an alert without a warning", []step{opened(), wait(11 * time.Minute), expire(workflow.Alert)},
			workflow.Escalation, 15 * time.Minute},
		{"none after that", []step{opened(), wait(time.Hour), expire(workflow.Escalation)}, "", 0},
		{"the warning of a stay that has begun again", []step{opened(), wait(time.Hour), expire(workflow.Escalation), moveTo("doing")},
			workflow.Warning, 68 * time.Minute},
		{"none where there is no timeout", []step{opened(), moveTo("waiting")}, "", 0},
		{"none of what has ended", []step{opened(), moveTo("end")}, "", 0},
		{"none of what was cancelled", []step{opened(), do(instance.Cancel{})}, "", 0},
		{"the same in a pause", []step{opened(), as("cto/c1", instance.Pause{})}, workflow.Warning, 8 * time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			next, at, ok := instance.Due(def, given(t, def, c.given...).in)
			if ok != (c.level != "") || next.Level != c.level || ok && !at.Equal(opening().Add(c.after)) {
				t.Errorf("%q at %v, %v; want %q after %v", next.Level, at, ok, c.level, c.after)
			}
		})
	}
}

func TestWorkIsRankedAsTheLifecycleOrdersIt(t *testing.T) {
	def := define(t, `
workflow: ranked
version: 1
initial: pending
vars: {by: "", priority: 100}
order: ["instance.state == 'pushed' ? (vars.by == 'reviewer' ? 0 : 1) : 2", vars.priority, "evidence['none'].failed.size()"]
states:
  pending: {owner: dev, next: [pushed, end], decide: [{to: pushed}]}
  pushed: {owner: dev, next: [end], decide: [{to: end}]}
  end: {final: true}
`)
	heard := func(data map[string]string) step {
		return do(instance.Signal{Name: "said", Data: data, Evidence: []instance.Evidence{{Name: "none", Failed: []string{"a"}}}})
	}
	for _, c := range []struct {
		name  string
		given []step
		want  []int64
	}{
		{"new work", []step{opened(), heard(nil)}, []int64{2, 100, 1}},
		{"of some priority", []step{opened(), heard(map[string]string{"priority": "7"})}, []int64{2, 7, 1}},
		{"under review", []step{opened(), heard(nil), moveTo("pushed")}, []int64{1, 100, 1}},
		{"waited for by a reviewer", []step{opened(), moveTo("pushed"), heard(map[string]string{"by": "reviewer"})}, []int64{0, 100, 1}},
		{"what cannot be ranked", []step{opened()}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := instance.Rank(def, given(t, def, c.given...).in)
			if diff := cmp.Diff(c.want, got); diff != "" || (err == nil) != (c.want != nil) {
				t.Errorf("error %v, -want +got:\n%s", err, diff)
			}
		})
	}
}
