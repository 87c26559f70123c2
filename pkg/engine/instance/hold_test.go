package instance_test

import (
	"errors"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// actor is who gives a command.
func actor(a instance.Action) string {
	switch a.(type) {
	case instance.Claim:
		return "worker/w-1"
	case instance.Retry, instance.Pause:
		return "operator:ann"
	}
	return "orchestrator"
}

func TestOnlyWorkThatIsFreeIsHeld(t *testing.T) {
	def, err := workflow.Load("w", []byte(`{workflow: w, version: 1, initial: a, states: {a: {owner: worker, next: [z], decide: [{to: z}]}, z: {final: true}}}`))
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC)
	until := at.Add(15 * time.Hour)
	n := uint64(0)
	do := func(in instance.Instance, action instance.Action) (instance.Instance, error) {
		cmd := instance.Command{ID: "c", Instance: "i", Actor: actor(action), At: at, Do: action}
		events, err := instance.Decide(def, in, cmd)
		if err != nil {
			return in, err
		}
		n++
		return instance.Evolve(in, instance.Commit{ID: "c", Seq: n, At: at, Actor: cmd.Actor, Events: events}), nil
	}
	must := func(in instance.Instance, action instance.Action) instance.Instance {
		t.Helper()
		next, err := do(in, action)
		if err != nil {
			t.Fatal(err)
		}
		return next
	}
	open := must(instance.Instance{ID: "i"}, instance.Open{Issue: instance.Issue{Title: "t"}})
	hold := instance.Hold{Work: open.Work, For: instance.ForBudget, Until: until, Reason: "all is spent"}
	held := must(open, hold)
	if held.Parked == nil || !held.Parked.Until.Equal(until) || held.Parked.Reason != "all is spent" || held.WaitsFor() != instance.ForBudget {
		t.Fatalf("it is parked: %+v", held.Parked)
	}
	claim := instance.Claim{Role: "worker", Agent: "w-1", Work: open.Work, Lease: time.Minute}
	if _, err := do(held, claim); !errors.Is(err, &instance.Refusal{Code: instance.CodeStale}) {
		t.Errorf("held work is claimed: %v", err)
	}
	if retried := must(held, instance.Retry{}); retried.Parked != nil || retried.Work == held.Work {
		t.Errorf("who tries again finds %+v", retried.Parked)
	}
	for name, c := range map[string]struct {
		in   instance.Instance
		hold instance.Hold
		code instance.Code
	}{
		"other work":   {open, instance.Hold{Work: open.Work + 1, Until: until}, instance.CodeStale},
		"the past":     {open, instance.Hold{Work: open.Work, Until: at}, instance.CodeInvalid},
		"claimed work": {must(open, claim), hold, instance.CodeHeld},
		"paused work":  {must(open, instance.Pause{}), hold, instance.CodePaused},
		"held work":    {held, hold, instance.CodePaused},
	} {
		if _, err := do(c.in, c.hold); !errors.Is(err, &instance.Refusal{Code: c.code}) {
			t.Errorf("%s is held: %v, want %s", name, err, c.code)
		}
	}
}

func TestAParkOfAnEarlierVersionIsForAPlaceByItsReason(t *testing.T) {
	for reason, want := range map[string]instance.Wait{"it waits for a place: at most 1 at a time": instance.ForPlace, "checks are pending": ""} {
		in := instance.Evolve(instance.Instance{ID: "i"}, instance.Commit{Seq: 1, Events: []instance.Event{instance.ParkedUntil{State: "a", Reason: reason}}})
		if in.WaitsFor() != want {
			t.Errorf("%q waits for %q, want %q", reason, in.WaitsFor(), want)
		}
	}
}
