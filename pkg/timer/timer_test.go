package timer_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/timer"
	"github.com/signalbox/signalbox/pkg/workflow"
)

var entered = time.Date(2026, 1, 2, 9, 0, 0, 123, time.UTC)

// stay is an instance of slow that is in its first state.
func stay(change func(*instance.Instance)) instance.Instance {
	in := instance.Instance{
		ID: "a", Workflow: "slow", State: "todo", Kind: workflow.Work, Owner: "worker", EnteredAt: entered, Entered: 7, Seq: 9,
	}
	change(&in)
	return in
}

func deadline(level workflow.Level, after time.Duration) timer.Timer {
	return timer.Timer{Instance: "a", Kind: timer.Deadline, Due: entered.Add(after), Entered: 7, Level: level, Seq: 9}
}

func TestWhichTimersAnInstanceShouldHave(t *testing.T) {
	def := load(t, slow)
	until := entered.Add(time.Hour)
	wake := timer.Timer{Instance: "a", Kind: timer.Wake, Due: until, Entered: 7, Seq: 9}
	for _, c := range []struct {
		name   string
		change func(*instance.Instance)
		want   []timer.Timer
	}{
		{"the first deadline of its stay", func(*instance.Instance) {}, []timer.Timer{deadline(workflow.Warning, 2400*time.Millisecond)}},
		{"the next, once one has passed", func(in *instance.Instance) { in.Level = workflow.Warning }, []timer.Timer{deadline(workflow.Alert, 3*time.Second)}},
		{"the last", func(in *instance.Instance) { in.Level = workflow.Alert }, []timer.Timer{deadline(workflow.Escalation, 4500*time.Millisecond)}},
		{"none when all have", func(in *instance.Instance) { in.Level = workflow.Escalation }, nil},
		{"none in a state without a timeout", func(in *instance.Instance) { in.State = "calm" }, nil},
		{"none when it is closed", func(in *instance.Instance) { in.Closed = instance.Cancelled }, nil},
		{"none when it was never opened", func(in *instance.Instance) { *in = instance.Instance{ID: "a"} }, nil},
		{"its deadline also while it is paused", func(in *instance.Instance) { in.Paused = true }, []timer.Timer{deadline(workflow.Warning, 2400*time.Millisecond)}},
		{"the end of its parking", func(in *instance.Instance) { in.State, in.Parked = "calm", &instance.Parked{Until: until} }, []timer.Timer{wake}},
		{"both", func(in *instance.Instance) { in.Parked = &instance.Parked{Until: until} },
			[]timer.Timer{deadline(workflow.Warning, 2400*time.Millisecond), wake}},
		{"none for a parking without an end", func(in *instance.Instance) { in.State, in.Parked = "calm", &instance.Parked{} }, nil},
		{"none for one that a pause ends", func(in *instance.Instance) {
			in.State, in.Parked, in.Paused = "calm", &instance.Parked{Until: until}, true
		}, nil},
		{"none for one that people are asked about", func(in *instance.Instance) {
			in.State, in.Parked = "calm", &instance.Parked{Until: until}
			in.Escalations = []instance.Escalation{{Number: 1, RequiresHuman: true}}
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, timer.Of(def, stay(c.change))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestATimerAsksTheSameOfTheEngineWhoeverHasIt(t *testing.T) {
	def := load(t, slow)
	until := entered.Add(time.Hour)
	parked := stay(func(in *instance.Instance) { in.Parked = &instance.Parked{Until: until} })
	later := parked
	later.Seq = 12
	want := []instance.Command{
		{ID: "expire-7-warning", Instance: "a", Actor: "orchestrator", Do: instance.Expire{Entered: 7, Level: workflow.Warning}},
		{ID: "wake-7-1767348000000000123", Instance: "a", Actor: "orchestrator", Do: instance.Wake{Until: until}},
	}
	for _, in := range []instance.Instance{parked, later} {
		var got []instance.Command
		for _, one := range timer.Of(def, in) {
			got = append(got, one.Command())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
}
