package instance_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// everything returns a commit with every event that changes an instance.
func everything(seq uint64) instance.Commit {
	mark := fmt.Sprint("mark ", seq)
	return instance.Commit{Seq: seq, ID: mark, At: opening().Add(time.Duration(seq) * time.Hour), Actor: mark, Events: []instance.Event{
		instance.Claimed{Token: seq, Role: mark, Agent: mark, Lease: opening()},
		instance.LeaseExtended{Token: seq, Lease: opening().Add(time.Hour)},
		instance.Reported{Token: seq, State: mark, Result: instance.Result{
			Status: instance.Failure, Bundle: mark, Head: mark, FailureSignature: mark,
			Sections:  map[string]string{"kept": mark, mark: mark},
			Evidence:  []instance.Evidence{{Name: "tests", Commit: mark}, {Name: mark}},
			Artifacts: []instance.Artifact{{Name: mark}},
		}},
		instance.Escalated{Number: int(seq), Reason: mark}, instance.Resolved{Number: 1, Text: mark},
		instance.Resolved{Number: int(seq), By: mark},
		instance.Remembered{Vars: map[string]string{"kept": mark, mark: mark}},
		instance.Handed{Head: mark, Bundle: mark, Sections: map[string]string{"kept": mark, "handed " + mark: mark}},
		instance.Spawned{Instance: mark, Workflow: mark}, instance.LinkEnded{Instance: "a/1", State: mark},
		instance.LinkEnded{Instance: mark, Well: true},
		instance.Asked{Number: int(seq), To: mark, Text: mark},
		instance.Moved{From: "received", To: mark, Failure: true},
		instance.Moved{From: mark, To: "received"},
		instance.Signalled{Name: mark, Data: map[string]string{"body": mark}},
		instance.Asked{Number: int(seq), Text: mark},
		instance.Answered{Number: 1, Text: mark},
		instance.Noted{Text: mark},
		instance.Spent{Spend: instance.Cost{USD: float64(seq)}},
		instance.ParkedUntil{State: mark, Reason: mark}, instance.Woken{}, instance.TimedOut{Level: workflow.Alert},
		instance.Claimed{Token: seq + 1, Agent: mark},
	}}
}

func TestEvolveNeverWritesToWhatAnOlderInstanceHolds(t *testing.T) {
	parent := given(t, issue(t), do(instance.Open{Issue: instance.Issue{Title: "Greeting is wrong"}, After: []string{"a/1"}}), claim("p1"),
		do(instance.Ask{Token: 1, Text: "Why?"}), do(instance.Note{Text: "hm"}), do(instance.Escalate{Token: 1, Reason: "odd"})).in
	for seq := range uint64(40) { // past every slice's first capacity
		parent = instance.Evolve(parent, everything(seq+5))
		before := dump(t, parent)
		elder := instance.Evolve(parent, everything(1001))
		of := dump(t, elder)
		younger := instance.Evolve(parent, everything(1002))
		if diff := cmp.Diff(before, dump(t, parent)); diff != "" {
			t.Fatalf("commit %d wrote to its parent:\n%s", seq, diff)
		}
		if diff := cmp.Diff(of, dump(t, elder)); diff != "" {
			t.Fatalf("commit %d wrote to its sibling:\n%s", seq, diff)
		}
		if dump(t, younger) == of {
			t.Fatal("the siblings are the same")
		}
	}
}

func TestEvolveIgnoresEventsThatCouldNotBeDecoded(t *testing.T) {
	in := given(t, issue(t), opened(), claim("p1")).in
	c := instance.Commit{Seq: 9, ID: "f", At: opening(), Events: []instance.Event{nil, instance.Noted{Text: "known"}, nil}}
	got := instance.Evolve(in, c)
	c.Events = []instance.Event{instance.Noted{Text: "known"}}
	if diff := cmp.Diff(instance.Evolve(in, c), got); diff != "" {
		t.Errorf("-without the unknown +with it:\n%s", diff)
	}
}

// Evolve is total: every sequence of events has a fold.
func TestEvolveTakesAnyEventsInAnyOrder(t *testing.T) {
	events := rapid.SliceOf(rapid.OneOf(
		rapid.Make[instance.Opened]().AsAny(), rapid.Make[instance.Claimed]().AsAny(), rapid.Make[instance.LeaseExtended]().AsAny(),
		rapid.Make[instance.Released]().AsAny(), rapid.Make[instance.Reported]().AsAny(), rapid.Make[instance.ProposalRefused]().AsAny(),
		rapid.Make[instance.GateRefused]().AsAny(), rapid.Make[instance.LoopDetected]().AsAny(), rapid.Make[instance.Moved]().AsAny(),
		rapid.Make[instance.Dispatched]().AsAny(), rapid.Make[instance.Signalled]().AsAny(), rapid.Make[instance.Asked]().AsAny(),
		rapid.Make[instance.Answered]().AsAny(), rapid.Make[instance.Noted]().AsAny(), rapid.Make[instance.Spent]().AsAny(),
		rapid.Make[instance.Paused]().AsAny(), rapid.Make[instance.Resumed]().AsAny(), rapid.Make[instance.CancelledBy]().AsAny(),
		rapid.Make[instance.Handed]().AsAny(), rapid.Make[instance.Escalated]().AsAny(), rapid.Make[instance.Resolved]().AsAny(),
		rapid.Make[instance.Remembered]().AsAny(), rapid.Make[instance.ParkedUntil]().AsAny(), rapid.Make[instance.Woken]().AsAny(),
		rapid.Make[instance.TimedOut]().AsAny(), rapid.Make[instance.Spawned]().AsAny(), rapid.Make[instance.LinkEnded]().AsAny(),
		rapid.Make[instance.Migrated]().AsAny(), rapid.Make[instance.Reopened]().AsAny()))
	rapid.Check(t, func(t *rapid.T) {
		in := instance.Instance{ID: "any"}
		var entered int
		for i, e := range events.Draw(t, "events") {
			in = instance.Evolve(in, instance.Commit{Seq: uint64(i + 1), Events: []instance.Event{e.(instance.Event)}})
			switch e.(type) {
			case instance.Opened, instance.Moved:
				entered++
			}
		}
		var counted int
		for _, v := range in.Visits {
			counted += v.Count
		}
		if counted != entered {
			t.Errorf("%d visits counted, %d made", counted, entered)
		}
	})
}

func TestEvolveKeeps(t *testing.T) {
	reported := func(results ...instance.Result) []instance.Event {
		var events []instance.Event
		for _, r := range results {
			events = append(events, instance.Reported{State: "here", Result: r})
		}
		return events
	}
	fails := func(signature string) instance.Result { return instance.Result{FailureSignature: signature} }
	tests := func(ok bool, commit string) instance.Result {
		return instance.Result{Evidence: []instance.Evidence{{Name: "lint"}, {Name: "tests", OK: ok, Commit: commit}}}
	}
	for _, c := range []struct {
		name   string
		events []instance.Event
		get    func(instance.Instance) any
		want   any
	}{
		{"the newest evidence of each name", reported(tests(false, "c1"), tests(true, "c2")),
			func(in instance.Instance) any { return in.Evidence },
			[]instance.Evidence{{Name: "lint"}, {Name: "tests", OK: true, Commit: "c2"}}},
		{"how often the same failure came back", reported(fails("f1"), fails("f1"), fails(""), fails("f1")),
			func(in instance.Instance) any { return in.Failure }, instance.Signature{Value: "f1", Repeats: 2}},
		{"no repeats of another failure", reported(fails("f1"), fails("f1"), fails("f2")),
			func(in instance.Instance) any { return in.Failure }, instance.Signature{Value: "f2"}},
		{"no failure from before a check that passed", reported(fails("f1"), tests(true, "c1"), fails("f1")),
			func(in instance.Instance) any { return in.Failure }, instance.Signature{Value: "f1"}},
		{"the base, once it is set", reported(instance.Result{Base: "c0"}, instance.Result{Head: "c1"}, instance.Result{Base: "c9"}),
			func(in instance.Instance) any { return []string{in.Base, in.Head} }, []string{"c0", "c1"}},
		{"what carries the work it goes on with",
			[]instance.Event{instance.Opened{Base: "c1", Bundles: []instance.Bundle{{Object: "b0", Head: "c0"}, {Object: "b1", Head: "c1"}}}},
			func(in instance.Instance) any { return in.Bundles }, []instance.Bundle{{Object: "b0", Head: "c0"}, {Object: "b1", Head: "c1"}}},
		{"bundles with the head they bring", reported(instance.Result{Base: "c0", Bundle: "b0"}, instance.Result{Head: "c1", Bundle: "b1"}),
			func(in instance.Instance) any { return in.Bundles }, []instance.Bundle{{Object: "b0", Head: "c0"}, {Object: "b1", Head: "c1"}}},
		{"the sum of all costs", append(reported(instance.Result{Spend: instance.Cost{TokensIn: 1, TokensOut: 2, USD: 0.5, WallMS: 4}}),
			instance.Spent{Spend: instance.Cost{TokensIn: 10, TokensOut: 20, USD: 1, WallMS: 40}}),
			func(in instance.Instance) any { return in.Spend }, instance.Total{TokensIn: 11, TokensOut: 22, USD: 1.5, WallMS: 44}},
		{"the reason of a pause, wherever the instance goes meanwhile",
			[]instance.Event{instance.Paused{Reason: "lunch"}, instance.Moved{To: "there", Reason: "away"}},
			func(in instance.Instance) any { return in.Reason }, "lunch"},
		{"no faults of a state that was left", []instance.Event{instance.Released{Fault: true}, instance.Moved{To: "there"}},
			func(in instance.Instance) any { return in.Faults }, 0},
		{"the token of a claim that is over", []instance.Event{instance.Claimed{Token: 3}, instance.Released{}},
			func(in instance.Instance) any { return []any{in.Claim == nil, in.Tokens} }, []any{true, uint64(3)}},
		{"the step before through an answer, and what the answer cost", []instance.Event{
			instance.Reported{State: "here", Result: instance.Result{Summary: "done"}},
			instance.Reported{State: "there", Question: 1, Result: instance.Result{Summary: "yes", Spend: instance.Cost{USD: 1}}}},
			func(in instance.Instance) any { return []any{in.Last.Summary, in.LastState, in.Spend.USD} }, []any{"done", "here", 1.0}},
		{"what was handed over, beside what others wrote", []instance.Event{
			instance.Reported{Result: instance.Result{Head: "c1", Sections: map[string]string{"a": "1", "b": "2"}}},
			instance.Handed{Sections: map[string]string{"b": "3"}},
			instance.Handed{Head: "c2", Bundle: "b2", Sections: map[string]string{"c": "4"}}, instance.Handed{Bundle: "b3"}},
			func(in instance.Instance) any { return []any{in.Head, in.Bundles, in.Sections} },
			[]any{"c2", []instance.Bundle{{Object: "b2", Head: "c2"}, {Object: "b3", Head: "c2"}}, map[string]string{"a": "1", "b": "3", "c": "4"}}},
		{"failures by state, none after success", []instance.Event{
			instance.Moved{From: "a", To: "b", Failure: true}, instance.Moved{From: "b", To: "a", Failure: true},
			instance.Moved{From: "a", To: "b", Failure: true}, instance.Moved{From: "b", To: "c"}},
			func(in instance.Instance) any { return in.Failures }, []instance.FailureCount{{State: "a", Count: 2}}},
		{"no failures of any state after a move that counts again", []instance.Event{
			instance.Moved{From: "a", To: "b", Failure: true}, instance.Moved{From: "b", To: "c", Failure: true, ResetsFailures: true}},
			func(in instance.Instance) any { return len(in.Failures) }, 0},
		{"failures through an override",
			[]instance.Event{instance.Moved{From: "a", To: "b", Failure: true}, instance.Moved{From: "a", To: "b", Override: true}},
			func(in instance.Instance) any { return in.FailuresIn("a") }, 1},
		{"no failures and no returns from before a resolution", []instance.Event{
			instance.Moved{From: "a", To: "b", Failure: true}, instance.Moved{From: "b", To: "b"}, instance.Escalated{Number: 1},
			instance.Resolved{Number: 1}},
			func(in instance.Instance) any { return []int{len(in.Failures), in.Returns} }, []int{0, 0}},
		{"questions to people and answers through a move, and no other question open", []instance.Event{
			instance.Asked{Number: 1}, instance.Asked{Number: 2, To: "boss"}, instance.Asked{Number: 3, To: "boss"}, instance.Answered{Number: 2},
			instance.Moved{To: "b"}},
			func(in instance.Instance) any {
				var withdrawn []bool
				for _, q := range in.Questions {
					withdrawn = append(withdrawn, q.Withdrawn)
				}
				_, open := in.Inquiry()
				return []any{withdrawn, open, len(in.OpenQuestions())}
			}, []any{[]bool{false, false, true}, false, 1}},
		{"the claim through a move that keeps it",
			[]instance.Event{instance.Claimed{Token: 3, Agent: "p1"}, instance.Moved{To: "b", KeepsClaim: true}},
			func(in instance.Instance) any { return in.Claim.Agent }, "p1"},
		{"an escalation for nobody to decide out of the way",
			[]instance.Event{instance.Claimed{Token: 3, Agent: "p1"}, instance.Escalated{Number: 1},
				instance.Escalated{Number: 2, RequiresHuman: true}},
			func(in instance.Instance) any {
				e, held := in.Escalation()
				return []any{e.Number, held, in.Claim == nil}
			}, []any{2, true, true}},
		{"what migrated to its end as ended", []instance.Event{instance.ParkedUntil{}, instance.Migrated{Kind: workflow.Final}},
			func(in instance.Instance) any { return []any{in.Closed, in.Parked == nil} }, []any{instance.Ended, true}},
		{"what ended as ended", []instance.Event{instance.Moved{To: "there", Kind: workflow.Final}},
			func(in instance.Instance) any { return in.Closed }, instance.Ended},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := instance.Evolve(instance.Instance{}, instance.Commit{Events: c.events})
			if diff := cmp.Diff(c.want, c.get(got)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestTimeInAStateIsNeverNegative(t *testing.T) {
	s := given(t, issue(t), opened(), wait(-time.Hour), moveTo("blocked"), wait(2*time.Hour), moveTo("failed"))
	want := []instance.Visit{{State: "received", Count: 1}, {State: "blocked", Count: 1, Total: 2 * time.Hour}, {State: "failed", Count: 1}}
	if diff := cmp.Diff(want, s.in.Visits); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestInLoop(t *testing.T) {
	for _, c := range []struct {
		name     string
		previous []string
		rule     workflow.Loop
		want     bool
	}{
		{"too short a past", []string{"a", "b"}, workflow.Loop{Window: 3, Distinct: 2}, false},
		{"two states in three", []string{"a", "b", "a"}, workflow.Loop{Window: 3, Distinct: 2}, true},
		{"one state three times", []string{"a", "a", "a"}, workflow.Loop{Window: 3, Distinct: 2}, true},
		{"three states", []string{"a", "b", "c"}, workflow.Loop{Window: 3, Distinct: 2}, false},
		{"a loop that is past", []string{"a", "b", "a", "c"}, workflow.Loop{Window: 3, Distinct: 2}, false},
		{"a past before the loop", []string{"x", "y", "a", "b", "a"}, workflow.Loop{Window: 3, Distinct: 2}, true},
		{"no rule", []string{"a", "a", "a"}, workflow.Loop{}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := instance.InLoop(c.previous, c.rule); got != c.want {
				t.Errorf("InLoop(%v) = %v, want %v", c.previous, got, c.want)
			}
		})
	}
}
