package timer_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/timer"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
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
	return timer.Timer{Instance: "a", Kind: timer.Deadline, Due: entered.Add(after), Entered: 7, Level: level, Commit: 9}
}

func TestWhichTimersAnInstanceShouldHave(t *testing.T) {
	def := load(t, slow)
	until := entered.Add(time.Hour)
	wake := timer.Timer{Instance: "a", Kind: timer.Wake, Due: until, Entered: 7, Commit: 9}
	for _, c := range []struct {
		name   string
		change func(*instance.Instance)
		want   []timer.Timer
	}{
		{"the first deadline of its stay", func(*instance.Instance) {}, []timer.Timer{deadline(workflow.Warning, 2400*time.Millisecond)}},
		{"the next, once one has passed", func(in *instance.Instance) { in.Level = workflow.Warning },
			[]timer.Timer{deadline(workflow.Alert, 3*time.Second)}},
		{"the last", func(in *instance.Instance) { in.Level = workflow.Alert },
			[]timer.Timer{deadline(workflow.Escalation, 4500*time.Millisecond)}},
		{"none when all have", func(in *instance.Instance) { in.Level = workflow.Escalation }, nil},
		{"none in a state without a timeout", func(in *instance.Instance) { in.State = "calm" }, nil},
		{"none when it is closed", func(in *instance.Instance) { in.Closed = instance.Cancelled }, nil},
		{"none when it was never opened", func(in *instance.Instance) { *in = instance.Instance{ID: "a"} }, nil},
		{"its deadline also while it is paused", func(in *instance.Instance) { in.Paused = true },
			[]timer.Timer{deadline(workflow.Warning, 2400*time.Millisecond)}},
		{"the end of its parking", func(in *instance.Instance) { in.State, in.Parked = "calm", &instance.Parked{Until: until} },
			[]timer.Timer{wake}},
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

func TestWhatMayChangeTheTimersStirs(t *testing.T) {
	def, now, n := load(t, slow), entered, 0
	var in instance.Instance
	do := func(stirs bool, what instance.Action) {
		t.Helper()
		n, now = n+1, now.Add(time.Millisecond)
		cmd := instance.Command{ID: fmt.Sprint(n), Instance: "a", At: now, Actor: "operator:ann", Do: what}
		events, err := instance.Decide(def, in, cmd)
		if err != nil {
			t.Fatalf("%T: %v", what, err)
		}
		before := in
		in = instance.Evolve(in, instance.Commit{Seq: uint64(n), ID: cmd.ID, At: now, Actor: cmd.Actor, Events: events})
		if got := timer.Affects(before, in); got != stirs {
			t.Errorf("%T in %q: %v, want %v", what, before.State, got, stirs)
		}
		changed := cmp.Diff(timer.Of(def, before), timer.Of(def, in), cmpopts.IgnoreFields(timer.Timer{}, "Commit"))
		if changed != "" && !stirs {
			t.Errorf("%T in %q changes the timers (-before +after)\n%s", what, before.State, changed)
		}
	}
	claim := func(stirs bool) {
		t.Helper()
		do(stirs, instance.Claim{Role: "worker", Agent: "w", Work: in.Work, Lease: time.Hour})
	}
	report := func(status instance.Status) {
		t.Helper()
		do(true, instance.Report{Token: in.Claim.Token, Result: instance.Result{Status: status}})
	}
	do(true, instance.Open{Issue: instance.Issue{Title: "a"}})
	claim(false)
	do(false, instance.Heartbeat{Token: in.Claim.Token, Lease: time.Hour})
	do(false, instance.Release{Token: in.Claim.Token})
	do(false, instance.Note{Text: "hm"})
	do(false, instance.Pause{})
	do(false, instance.Resume{})
	claim(false)
	report(instance.Success)
	claim(false)
	do(false, instance.Escalate{Token: in.Claim.Token, RequiresHuman: true, Reason: "why"})
	do(false, instance.Resolve{Text: "because"})
	claim(false)
	report(instance.Success)
	claim(false)
	report(instance.Blocked) // it is parked
	do(true, instance.Pause{})
	do(true, instance.Resume{})
	now = in.EnteredAt.Add(2400 * time.Millisecond)
	do(true, instance.Expire{Entered: in.Entered, Level: workflow.Warning})
	do(false, instance.Retry{})
	claim(false)
	do(true, instance.Override{To: "calm", Reason: "so"})
	do(false, instance.Override{To: "calm", Reason: "so"})
	do(true, instance.Override{To: "todo", Reason: "so"})
	do(true, instance.Cancel{})
	do(false, instance.Note{Text: "thanks"})
}
