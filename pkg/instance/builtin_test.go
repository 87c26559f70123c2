package instance_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/workflow"
)

func TestAnyCommandsOnTheOtherLifecycles(t *testing.T) {
	names := []string{"pipeline", "story", "task"}
	defs, next := map[string]*workflow.Definition{}, map[string]*workflow.Definition{}
	for _, name := range names {
		overlay := "version: 1\nextends: " + name + "\npolicy: {max_faults: "
		defs[name] = define(t, "workflow: test\n"+overlay+"3}\n")
		next[name] = define(t, "workflow: test\n"+overlay+"4}\n")
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(names).Draw(t, "lifecycle")
		tellTwice(t, defs[name], next[name])
	})
}

// However a task goes wrong, no state fails more than three times before the
// CTO steps in, and the CTO tries it no more than twice (task lifecycle, state invariants).
func TestATaskFailsThreeTimesAStateAndItsCTOTwice(t *testing.T) {
	def, err := workflow.Builtin("task")
	if err != nil {
		t.Fatal(err)
	}
	reached := map[string]bool{}
	rapid.Check(t, func(t *rapid.T) {
		s, d := begin(def), drawn(t)
		attempts := map[uint64]bool{} // by the stay that somebody took up
		for s.in.Closed == "" && s.sent < 150 {
			do := sensible(d, s)
			if r, reports := do.(instance.Report); reports {
				r.Result.Status = one(d, "ends", instance.Failure, instance.Failure, instance.Success)
				do = r
			}
			c, err := s.send(s.command(one(d, "actor", "ann", "cto/cto-1"), do))
			if err != nil {
				continue
			}
			if _, takes := c.Events[0].(instance.Claimed); takes && s.in.State == "cto_intervention" {
				attempts[s.in.Entered] = true
			}
			reached[s.in.State] = true
			for _, f := range s.in.Failures {
				if f.Count > 3 {
					t.Fatalf("%d failures in %s: %v", f.Count, f.State, s.in.Previous.Slice())
				}
			}
			if len(attempts) > 2 {
				t.Fatalf("%d attempts of the CTO: %v", len(attempts), s.in.Previous.Slice())
			}
		}
	})
	for _, state := range []string{"cto_intervention", "human_escalation", "quality_review"} {
		if !reached[state] {
			t.Errorf("no task was ever in %s: this proves nothing", state)
		}
	}
}
