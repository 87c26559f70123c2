package timer_test

import (
	"slices"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/question"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

var levels = []workflow.Level{workflow.Warning, workflow.Alert, workflow.Escalation}

func TestAStayThatLastsPassesEachDeadlineOnce(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	r := e.replica()
	r.open("a.b c")
	r.level("a.b c", workflow.Escalation)
	if got := e.timeouts("a.b c", 0); !slices.Equal(got, levels) {
		t.Errorf("it passed %v, want %v", got, levels)
	}
	e.awaitArmed(0)
}

func TestAStateThatWasLeftNeverFires(t *testing.T) {
	t.Parallel()
	e := newEnv(t, "timeout: 3s", "timeout: 1h")
	r := e.replica()
	for _, in := range []string{"left", "ended", "again"} {
		r.open(in)
	}
	e.awaitArmed(3)
	r.report("left", instance.Success)
	r.report("ended", instance.Failure)
	r.report("again", instance.Success)
	again := r.report("again", instance.Success) // back, for another stay
	e.awaitTimers("nothing but the second stay", func(armed map[string]body) bool {
		return len(armed) == 1 && armed["sb.timer.armed.deadline.again"].Entered == again.Entered
	})
}

func TestAParkedInstanceIsWokenInTime(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	r := e.replica()
	r.open("a")
	parked := r.report("a", instance.Blocked)
	if parked.Parked == nil {
		t.Fatalf("it is not parked: %+v", parked)
	}
	awake := r.await("a", "waking", func(now instance.Instance) bool { return now.Parked == nil })
	if awake.Work <= parked.Work || awake.UpdatedAt.Before(parked.Parked.Until) {
		t.Errorf("work %d was given out at %s, parked until %s", awake.Work, awake.UpdatedAt, parked.Parked.Until)
	}
}

func TestTheDefaultOfAQuestionIsTakenAtItsDeadline(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	r := e.replica()
	now := r.open("a")
	claim := r.do("a", instance.Claim{Role: "worker", Agent: "w", Work: now.Work, Lease: time.Minute}).Claim
	asked := r.do("a", instance.Report{Token: claim.Token, Result: instance.Result{Status: instance.Success, ConfidenceScore: 1,
		Questions: []string{"Which store?", "Which name?"}, Forms: map[string]question.Wanted{"Which store?": {Within: 2 * time.Second,
			Form: question.Form{Kind: question.Choice, Options: []string{"PostgreSQL", "SQLite"}, Default: "SQLite"}}}}})
	if len(asked.Questions) != 2 || asked.Questions[0].Deadline.IsZero() {
		t.Fatalf("it asks %+v", asked.Questions)
	}
	taken := r.await("a", "the default", func(now instance.Instance) bool { return now.Questions[0].Answered })
	first, second := taken.Questions[0], taken.Questions[1]
	if first.Answer != "SQLite" || !first.ByDefault || taken.UpdatedAt.Before(first.Deadline) {
		t.Errorf("at %s it has %+v", taken.UpdatedAt, first)
	}
	if second.Answered {
		t.Errorf("a question without a default has the answer %+v", second)
	}
}

func TestTimersSurviveRestartsOfEverything(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	first := e.replica()
	for _, in := range []string{"a", "b", "c"} {
		first.open(in)
	}
	e.awaitArmed(3)
	first.stop()
	left := first.report("b", instance.Success) // nobody disarms it
	e.server.Stop()
	due := time.NewTimer(3 * time.Second)
	<-due.C // while there is no server
	e.server.Resume(t)
	second := e.replica()
	for _, in := range []string{"a", "c"} {
		second.level(in, workflow.Warning)
	}
	e.server.Restart(t)
	for _, in := range []string{"a", "c"} {
		second.level(in, workflow.Escalation)
		if got := e.timeouts(in, 0); !slices.Equal(got, levels) {
			t.Errorf("%s passed %v, want %v", in, got, levels)
		}
	}
	if got := e.timeouts("b", left.Seq); len(got) > 0 {
		t.Errorf("b passed %v of a stay that was over", got)
	}
	e.awaitArmed(0)
}

func TestSeveralReplicasDoNoHarm(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	replicas := []*replica{e.replica(), e.replica(), e.replica()}
	all := []string{"a", "b", "c", "d", "e", "f"}
	since := map[string]uint64{}
	for i, in := range all {
		since[in] = replicas[i%3].open(in).Entered
	}
	for i, in := range all[:3] {
		replicas[(i+1)%3].report(in, instance.Success)
		since[in] = replicas[(i+2)%3].report(in, instance.Success).Entered
	}
	replicas[0].stop()
	for _, in := range all {
		replicas[1].level(in, workflow.Escalation)
		if got := e.timeouts(in, since[in]); !slices.Equal(got, levels) {
			t.Errorf("%s passed %v, want %v", in, got, levels)
		}
	}
}
