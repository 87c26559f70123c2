package task_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/document/task"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// run is a task that commands are given to.
type run struct {
	t       *testing.T
	def     *workflow.Definition
	in      instance.Instance
	now     time.Time
	commits []instance.Commit
}

func begin(t *testing.T) *run {
	t.Helper()
	def, err := workflow.Builtin("task")
	if err != nil {
		t.Fatal(err)
	}
	r := &run{t: t, def: def, in: instance.Instance{ID: "TASK-001"}, now: time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC)}
	r.do("operator:ann", instance.Open{Issue: instance.Issue{Title: "a task"}})
	return r
}

func (r *run) do(actor string, a instance.Action) error {
	r.t.Helper()
	seq := uint64(len(r.commits) + 1)
	events, err := instance.Decide(r.def, r.in, instance.Command{ID: fmt.Sprint(seq), Instance: r.in.ID, At: r.now, Actor: actor, Do: a})
	if err != nil {
		return err
	}
	c := instance.Commit{Seq: seq, ID: fmt.Sprint(seq), At: r.now, Actor: actor, Events: events}
	r.commits, r.in = append(r.commits, c), instance.Evolve(r.in, c)
	return nil
}

// step has whose turn it is report.
func (r *run) step(status instance.Status) {
	r.t.Helper()
	role := r.in.Worker()
	r.now = r.now.Add(time.Minute)
	if err := r.do(role+"/1", instance.Claim{Role: role, Agent: role + "-1", Work: r.in.Work, Lease: time.Hour}); err != nil {
		r.t.Fatal(err)
	}
	result := instance.Result{Status: status, Summary: "done", Head: "c1", Evidence: []instance.Evidence{{Name: "tests", OK: status == instance.Success, Commit: "c1"}}}
	if err := r.do(role+"/1", instance.Report{Token: r.in.Tokens, Result: result}); err != nil {
		r.t.Fatal(err)
	}
	for _, f := range r.in.Failures {
		if f.Count > 3 {
			r.t.Fatalf("%d failures of %s: three are the most", f.Count, f.State)
		}
	}
}

func TestATaskThatGoesWellIsToldInItsSourcesMoves(t *testing.T) {
	r := begin(t)
	for r.in.Closed == "" {
		r.step(instance.Success)
	}
	var got []string
	for _, m := range task.Transitions(task.Events(r.in.ID, r.commits)) {
		got = append(got, m.FromState+" → "+m.ToState+" "+m.Actor+": "+m.Reason)
	}
	want := []string{
		"pending → assigned build orchestrator: Task picked up",
		"assigned → planning @agent-solution-validator: Validation starts",
		"planning → validated @agent-solution-validator: Approach approved",
		"validated → in_progress @agent-fullstack-developer: Implementation starts",
		"in_progress → testing @agent-fullstack-developer: Code complete",
		"testing → quality_review @agent-fullstack-developer: Self-checks done",
		"quality_review → approved @agent-quality-monitor: Gates passed",
		"approved → committing @agent-git-manager: Ready to commit",
		"committing → completed @agent-git-manager: Commit successful",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestThreeFailuresCallTheCTOAndTwoAttemptsPeople(t *testing.T) {
	r := begin(t)
	for r.in.State != "human_escalation" {
		if r.in.State == "cto_intervention" {
			r.step(instance.Success)
			continue
		}
		r.step(instance.Failure)
	}
	counted := map[task.Kind]int{}
	for _, e := range task.Events(r.in.ID, r.commits) {
		counted[e.Event]++
	}
	if counted[task.FailureIncrement] != 9 || counted[task.CTOIntervention] != 2 {
		t.Errorf("%v, want 9 failures and 2 interventions", counted)
	}
	s := task.Of(r.in.ID, r.commits, r.now.Add(30*time.Minute))
	if s.CTOAttempts != 2 || s.CurrentState != "human_escalation" || s.PreviousState != "cto_intervention" || s.TimeInState != 30 || s.AssignedAgent != "" {
		t.Errorf("%+v", s)
	}
	last := s.StateHistory[len(s.StateHistory)-1]
	if last.Actor != "@agent-cto" || last.Reason != "2 CTO attempts" {
		t.Errorf("%+v", last)
	}
	if called := s.StateHistory[len(s.StateHistory)-2]; called.Actor != task.Orchestrator || called.Reason != "3 failures" {
		t.Errorf("%+v", called)
	}
}

func TestEveryRequiredEventIsTold(t *testing.T) {
	r := begin(t)
	r.step(instance.Success) // claimed: planning, validated
	for range 3 {
		r.step(instance.Failure)
	}
	r.now = r.now.Add(time.Hour)
	if err := r.do("timer", instance.Expire{Entered: r.in.Entered, Level: workflow.Warning}); err != nil {
		t.Fatal(err)
	}
	told := map[task.Kind]bool{}
	for _, e := range task.Events(r.in.ID, r.commits) {
		told[e.Event] = true
		if e.TaskID != "TASK-001" || e.Timestamp.IsZero() || e.Actor == "" || e.Reason == "" || e.Metadata == nil {
			t.Errorf("%+v", e)
		}
	}
	for _, kind := range []task.Kind{task.StateTransition, task.FailureIncrement, task.TimeoutWarning, task.AgentAssignment, task.CTOIntervention} {
		if !told[kind] {
			t.Errorf("no %s", kind)
		}
	}
}

func TestOnlyTheCTOSkipsToTheNextStateAndWhatPeopleAbandonIsMarkedAsFailed(t *testing.T) {
	r := begin(t)
	jump, abandon := instance.Override{To: "approved", Reason: "it is fine"}, instance.Cancel{Reason: "not wanted"}
	skip := instance.Override{To: "assigned", Reason: "it is fine"}
	for _, c := range []struct {
		actor string
		do    instance.Action
		ok    bool
	}{
		{"operator:ann", skip, false}, {"fullstack-developer/1", skip, false}, {"cto/1", abandon, false},
		{"cto/1", jump, false}, {"cto/1", skip, true}, {"operator:ann", abandon, true},
	} {
		if err := r.do(c.actor, c.do); (err == nil) != c.ok {
			t.Errorf("%s does %#v: %v", c.actor, c.do, err)
		}
	}
	if s := task.Of("TASK-001", r.commits, r.now); !s.Failed || s.FailureReason != "not wanted" || s.CurrentState != "assigned" {
		t.Errorf("what is abandoned is %+v", s)
	}
	events := task.Events("TASK-001", r.commits)
	if last := events[len(events)-1]; last.Event != task.TaskAbandoned || last.Reason != "not wanted" || last.Metadata["failureReason"] != "not wanted" {
		t.Errorf("it is told as %+v", last)
	}
}
