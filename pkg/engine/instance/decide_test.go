package instance_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

func TestDecideRecords(t *testing.T) {
	builtin := issue(t)
	at := func(d time.Duration) time.Time { return opening().Add(d) }
	success := instance.Result{Status: instance.Success, ConfidenceScore: 1}
	asking := instance.Result{Status: instance.Blocked, Questions: []string{"B?", "C?"}}
	answering := instance.Result{Status: instance.Blocked, Answers: []instance.QuestionAnswer{
		{Question: 2, Text: "b", By: "ann"}, {Question: 1, Text: "not again", By: "ann"}, {Question: 2, Text: "nor again"},
		{Question: 9, Text: "what?"}, {Question: 3, Text: "c"},
	}}
	answered := answering
	answered.Answers = slices.Clone(answering.Answers)
	for i := range answered.Answers { // what names nobody is the role's own
		if answered.Answers[i].By == "" {
			answered.Answers[i].By = "pm"
		}
	}
	tested := func(commit string) instance.Result {
		return instance.Result{Status: instance.Success, ConfidenceScore: 1,
			Evidence: []instance.Evidence{{Name: "tests", OK: true, Commit: commit}}}
	}

	signed := func(r instance.Result, role, agent string) instance.Result {
		r.Evidence = slices.Clone(r.Evidence)
		for i := range r.Evidence {
			r.Evidence[i].Role, r.Evidence[i].Agent = role, agent
		}
		return r
	}
	for _, c := range []struct {
		name   string
		policy []string
		given  []step
		when   step
		then   []instance.Event
	}{
		{"an opening starts in the first state and wakes its owner", nil, nil,
			do(instance.Open{Issue: instance.Issue{Title: "T"}, Base: "c0", Bundle: "b0"}),
			[]instance.Event{
				instance.Opened{Workflow: "issue", Definition: builtin.Hash, Issue: instance.Issue{Title: "T"}, Base: "c0", Bundle: "b0",
					State: "received", Owner: "pm", Kind: workflow.Work},
				instance.Dispatched{State: "received", Owner: "pm"},
			}},
		{"a claim gets the next token and a lease from now", nil,
			[]step{opened(), claim("p1"), do(instance.Release{Token: 1}), wait(time.Minute)}, claim("p2"),
			[]instance.Event{instance.Claimed{Token: 2, Role: "pm", Agent: "p2", Lease: at(time.Minute + lease)}}},
		{"a claim names whose lease ran out, to the very moment", nil,
			[]step{opened(), claim("p1"), wait(lease)}, claim("p2"),
			[]instance.Event{instance.Claimed{Token: 2, Role: "pm", Agent: "p2", Lease: at(2 * lease), Lapsed: "p1"}}},
		{"an agent may take up its own lapsed work", nil,
			[]step{opened(), claim("p1"), wait(lease)}, claim("p1"),
			[]instance.Event{instance.Claimed{Token: 2, Role: "pm", Agent: "p1", Lease: at(2 * lease), Lapsed: "p1"}}},
		{"a heartbeat counts from now, at the last moment too", nil,
			[]step{opened(), claim("p1"), wait(lease - 1)}, do(instance.Heartbeat{Token: 1, Lease: time.Minute}),
			[]instance.Event{instance.LeaseExtended{Token: 1, Lease: at(lease - 1 + time.Minute)}}},
		{"a report at the last moment counts", nil,
			[]step{opened(), claim("p1"), wait(lease - 1)}, report(success),
			[]instance.Event{
				instance.Reported{Token: 1, Role: "pm", Agent: "p1", State: "received", Result: success},
				instance.Moved{From: "received", To: "analyzing_requirements", Owner: "analyst", Kind: workflow.Work, Rule: "decide",
					Reason: "the report is taken up"},
				instance.Dispatched{State: "analyzing_requirements", Owner: "analyst"},
			}},
		{"a report while the clock is behind counts", nil,
			[]step{opened(), wait(time.Hour), moveTo("creating_pr"), claim("p1"), wait(-time.Hour)},
			report(instance.Result{Status: instance.Failure}),
			[]instance.Event{
				instance.Reported{Token: 1, Role: "pm", Agent: "p1", State: "creating_pr", Result: instance.Result{Status: instance.Failure}},
				instance.Escalated{Number: 1, Agent: "pm", Reason: "the pull request could not be opened", RequiresHuman: true},
			}},
		{"a result's questions are numbered after those that were asked", nil,
			[]step{opened(), moveTo("requirements_unclear"), claim("p1"), do(instance.Ask{Token: 1, Text: "A?"})}, report(asking),
			[]instance.Event{
				instance.Reported{Token: 1, Role: "pm", Agent: "p1", State: "requirements_unclear", Result: asking},
				instance.Asked{Number: 2, From: "pm", Text: "B?"},
				instance.Asked{Number: 3, From: "pm", Text: "C?"},
				instance.Moved{From: "requirements_unclear", To: "blocked", Owner: "pm", Kind: workflow.Work, Rule: "decide",
					Reason: "an outside fault prevents the questions"},
				instance.Dispatched{State: "blocked", Owner: "pm"},
			}},
		{"a result's answers go to open questions, and change those that nobody works with, once", nil,
			[]step{opened(), moveTo("requirements_unclear"), claim("p1"), do(instance.Ask{Token: 1, Text: "A?"}),
				do(instance.Answer{Number: 1, Text: "a"}), report(asking), do(instance.Note{Kind: "comment", Text: "**B** - not again"}), claim("p1")},
			report(answering),
			[]instance.Event{
				instance.Reported{Token: 2, Role: "pm", Agent: "p1", State: "blocked", Result: answered},
				instance.Answered{Number: 2, Text: "b", By: "ann"},
				instance.Answered{Number: 1, Text: "not again", By: "ann"},
				instance.Answered{Number: 3, Text: "c", By: "pm"},
				instance.Moved{From: "blocked", To: "requires_human_intervention", Kind: workflow.Final, Rule: "decide",
					Reason: "the agents cannot remove the obstacle", Failure: true},
			}},
		{"evidence of another commit does not open the gate", nil,
			[]step{opened(), moveTo("implementing"), claim("d1"), report(instance.Result{Status: instance.Blocked, Head: "c1"}),
				moveTo("validating_solution"), claim("t1")}, report(tested("c0")),
			[]instance.Event{
				instance.Reported{Token: 2, Role: "tester", Agent: "t1", State: "validating_solution", Result: signed(tested("c0"), "tester", "t1")},
				instance.GateRefused{Gate: "require_tests", Wanted: "creating_pr", Instead: "fixing_issues",
					Reason: "the tests have not passed on the newest commit"},
				instance.Moved{From: "validating_solution", To: "fixing_issues", Owner: "developer", Kind: workflow.Work, Rule: "require_tests",
					Reason: "the tests have not passed on the newest commit", Failure: true, Cites: []string{"tests"}},
				instance.Dispatched{State: "fixing_issues", Owner: "developer"},
			}},
		{"evidence of the very commit opens it", nil,
			[]step{opened(), moveTo("implementing"), claim("d1"), report(instance.Result{Status: instance.Blocked, Head: "c1"}),
				moveTo("validating_solution"), claim("t1")}, report(tested("c1")),
			[]instance.Event{
				instance.Reported{Token: 2, Role: "tester", Agent: "t1", State: "validating_solution", Result: signed(tested("c1"), "tester", "t1")},
				instance.Moved{From: "validating_solution", To: "creating_pr", Owner: "pm", Kind: workflow.Work, Rule: "decide",
					Reason: "unproven: the tests still pass, and none shows that the change does what the issue asks", Cites: []string{"tests"}},
				instance.Dispatched{State: "creating_pr", Owner: "pm"},
			}},
		{"evidence of a role that does not run the tests is set aside, and names who does", nil,
			[]step{opened(), moveTo("implementing"), claim("d1")},
			report(instance.Result{Status: instance.Success, ConfidenceScore: 0.85, Head: "c1",
				Evidence: []instance.Evidence{{Name: "tests", OK: true, Commit: "c1", Passed: 412}}}),
			[]instance.Event{
				instance.Reported{Token: 1, Role: "developer", Agent: "d1", State: "implementing",
					Result: instance.Result{Status: instance.Success, ConfidenceScore: 0.85, Head: "c1"}},
				instance.StatementRefused{What: "evidence", Name: "tests", Role: "developer", Agent: "d1", Said: "pass on c1",
					Permitted: []string{"tester in running_tests, validating_solution"}},
				instance.GateRefused{Gate: "require_tests", Wanted: "creating_pr", Instead: "running_tests",
					Reason: "the tests have not passed on the newest commit"},
				instance.Moved{From: "implementing", To: "running_tests", Owner: "tester", Kind: workflow.Work, Rule: "require_tests",
					Reason: "the tests have not passed on the newest commit", Failure: true, Cites: []string{}},
				instance.Dispatched{State: "running_tests", Owner: "tester"},
			}},
		{"evidence of a person's signal is set aside where a role runs the check", nil,
			[]step{opened(), moveTo("creating_pr")}, do(instance.Signal{Name: "checked",
				Evidence: []instance.Evidence{{Name: "tests", OK: true, Commit: "c1"}, {Name: "weather", OK: true}}}),
			[]instance.Event{
				instance.Signalled{Name: "checked", Actor: "ann", Evidence: []instance.Evidence{{Name: "weather", OK: true, Agent: "ann"}}},
				instance.StatementRefused{What: "evidence", Name: "tests", Role: "human", Agent: "ann", Said: "pass on c1",
					Permitted: []string{"tester in running_tests, validating_solution"}},
			}},
		{"a variable of another role is set aside", nil,
			[]step{opened(), moveTo("analyzing_requirements"), claim("a1")},
			report(instance.Result{Status: instance.Blocked, Data: map[string]string{"prNumber": "7", "hint": "x"}}),
			[]instance.Event{
				instance.Reported{Token: 1, Role: "analyst", Agent: "a1", State: "analyzing_requirements",
					Result: instance.Result{Status: instance.Blocked, Data: map[string]string{"hint": "x"}}},
				instance.StatementRefused{What: "variable", Name: "prNumber", Role: "analyst", Agent: "a1", Said: "7", Permitted: []string{"pm"}},
				instance.Moved{From: "analyzing_requirements", To: "requirements_unclear", Owner: "pm", Kind: workflow.Work, Rule: "decide",
					Reason: "the analysis did not finish"},
				instance.Dispatched{State: "requirements_unclear", Owner: "pm"},
			}},
		{"an answer of a role that does not read them is set aside", nil,
			[]step{opened(), moveTo("implementing"), claim("d1"), do(instance.Ask{Token: 1, Text: "Remove it?"})},
			report(instance.Result{Status: instance.Blocked, Answers: []instance.QuestionAnswer{{Question: 1, Text: "Yes. Approved.", By: "ann"}}}),
			[]instance.Event{
				instance.Reported{Token: 1, Role: "developer", Agent: "d1", State: "implementing", Result: instance.Result{Status: instance.Blocked}},
				instance.StatementRefused{What: "answer", Name: "1", Role: "developer", Agent: "d1", Said: "Yes. Approved.", Permitted: []string{"pm", "analyst"}},
				instance.Moved{From: "implementing", To: "analyzing_requirements", Owner: "analyst", Kind: workflow.Work, Rule: "decide",
					Reason: "the developer cannot work with these requirements"},
				instance.Dispatched{State: "analyzing_requirements", Owner: "analyst"},
			}},
		{"words that nobody said are by the role that reads the answers", nil,
			[]step{opened(), moveTo("requirements_clarified"), do(instance.Note{Kind: "comment", Text: "No, leave it."}),
				claim("p1"), do(instance.Ask{Token: 1, Text: "Remove it?"})},
			report(instance.Result{Status: instance.Success, Answers: []instance.QuestionAnswer{{Question: 1, Text: "Yes. Approved.", By: "ann"}}}),
			[]instance.Event{
				instance.Reported{Token: 1, Role: "pm", Agent: "p1", State: "requirements_clarified", Result: instance.Result{Status: instance.Success,
					Answers: []instance.QuestionAnswer{{Question: 1, Text: "Yes. Approved.", By: "pm"}}}},
				instance.StatementRefused{What: "author", Name: "1", Role: "pm", Agent: "p1", Said: "ann",
					Permitted: []string{"people whose remark has these words", "pm"}},
				instance.Answered{Number: 1, Text: "Yes. Approved.", By: "pm"},
				instance.Moved{From: "requirements_clarified", To: "creating_tests", Owner: "tester", Kind: workflow.Work, Rule: "decide",
					Reason: "every question is answered"},
				instance.Dispatched{State: "creating_tests", Owner: "tester"},
			}},
		{"a budget that is spent does not keep a run from ending as it should", []string{"max_iterations: 0"},
			[]step{opened(), moveTo("blocked"), moveTo("creating_pr"), moveTo("blocked"), claim("p1")},
			report(instance.Result{Status: instance.Blocked}),
			[]instance.Event{
				instance.Reported{Token: 1, Role: "pm", Agent: "p1", State: "blocked", Result: instance.Result{Status: instance.Blocked}},
				instance.Moved{From: "blocked", To: "requires_human_intervention", Kind: workflow.Final, Rule: "decide",
					Reason: "the agents cannot remove the obstacle", Failure: true, Loop: true},
			}},
		{"a brain that failed decides nothing: the evidence counts, and people are asked", nil,
			[]step{opened(), moveTo("running_tests"), claim("t1")},
			report(instance.Result{Status: instance.Failure, Unjudged: true, Summary: "the brain failed 3 times\nexit code 1",
				Questions: []string{"Why?"}, Evidence: []instance.Evidence{{Name: "tests", OK: true}}}),
			[]instance.Event{
				instance.Reported{Token: 1, Role: "tester", Agent: "t1", State: "running_tests", Result: instance.Result{Status: instance.Failure,
					Unjudged: true, Summary: "the brain failed 3 times\nexit code 1", Questions: []string{"Why?"},
					Evidence: []instance.Evidence{{Name: "tests", OK: true, Role: "tester", Agent: "t1"}}}},
				instance.Escalated{Number: 1, Agent: "tester", Reason: "the brain failed 3 times", RequiresHuman: true},
			}},
		{"a result that proposes an end which no rule leads to is decided by the rules", nil,
			[]step{opened(), moveTo("running_tests"), claim("t1")},
			report(instance.Result{Status: instance.Success, ConfidenceScore: 1, Next: "completed",
				Evidence: []instance.Evidence{{Name: "tests", OK: true}}}),
			[]instance.Event{
				instance.Reported{Token: 1, Role: "tester", Agent: "t1", State: "running_tests", Result: instance.Result{Status: instance.Success,
					ConfidenceScore: 1, Next: "completed", Evidence: []instance.Evidence{{Name: "tests", OK: true, Role: "tester", Agent: "t1"}}}},
				instance.ProposalRefused{From: "running_tests", Proposed: "completed",
					Permitted: []string{"implementing", "fixing_issues", "updating_tests", "failed", "validating_solution"}},
				instance.Moved{From: "running_tests", To: "validating_solution", Owner: "tester", Kind: workflow.Work, Rule: "decide",
					Reason: "unproven: the tests pass, and none shows that the change does what the issue asks", Cites: []string{"tests"}},
				instance.Dispatched{State: "validating_solution", Owner: "tester"},
			}},
		{"a signal nobody listens to is kept", nil,
			[]step{opened(), claim("p1")}, do(instance.Signal{Name: "labelled", Ref: "e1", Data: map[string]string{"label": "bug"}}),
			[]instance.Event{instance.Signalled{Name: "labelled", Actor: "ann", Ref: "e1", Data: map[string]string{"label": "bug"}}}},
		{"a signal from a person who may not answer is kept", nil,
			[]step{opened(), moveTo("waiting_for_human_input")},
			as("bob", instance.Signal{Name: "commented", Data: map[string]string{"permission": "read"}}),
			[]instance.Event{instance.Signalled{Name: "commented", Actor: "bob", Data: map[string]string{"permission": "read"}}}},
		{"a signal ends a wait", nil,
			[]step{opened(), moveTo("waiting_for_human_input")}, do(instance.Signal{Name: "abandoned"}),
			[]instance.Event{
				instance.Signalled{Name: "abandoned", Actor: "ann"},
				instance.Moved{From: "waiting_for_human_input", To: "failed", Kind: workflow.Final, Rule: "signal", Reason: "no answer arrived and the work ends",
					Failure: true},
			}},
		{"a signal in a pause moves and wakes nobody", nil,
			[]step{opened(), moveTo("waiting_for_human_input"), do(instance.Pause{Reason: "lunch"})}, do(instance.Signal{Name: "commented"}),
			[]instance.Event{
				instance.Signalled{Name: "commented", Actor: "ann"},
				instance.Moved{From: "waiting_for_human_input", To: "human_input_received", Owner: "pm", Kind: workflow.Work, Rule: "signal",
					Reason: "a permitted person answered"},
			}},
		{"a signal to what has ended is kept", nil,
			[]step{opened(), moveTo("failed")}, do(instance.Signal{Name: "commented"}),
			[]instance.Event{instance.Signalled{Name: "commented", Actor: "ann"}}},
		{"a note to what was cancelled is kept", nil,
			[]step{opened(), do(instance.Cancel{})}, do(instance.Note{Kind: "comment", Text: "Pity"}),
			[]instance.Event{instance.Noted{Author: "ann", Kind: "comment", Text: "Pity"}}},
		{"a cost is recorded", nil,
			[]step{opened(), claim("p1")}, do(instance.Spend{Token: 1, Spend: instance.Cost{TokensIn: 3, USD: 0.5}}),
			[]instance.Event{instance.Spent{Spend: instance.Cost{TokensIn: 3, USD: 0.5}}}},
		{"a raise of the budget is recorded", nil,
			[]step{opened(), claim("p1")}, do(instance.RaiseBudget{USD: 5}), []instance.Event{instance.BudgetRaised{USD: 5, By: "ann"}}},
		{"a raise of the budget lets the work go on that waits for it", nil,
			[]step{opened(), claim("p1"), do(instance.Escalate{Token: 1, Reason: instance.BudgetSpent + "$5 of $5", RequiresHuman: true})},
			do(instance.RaiseBudget{Tokens: 7}),
			[]instance.Event{
				instance.BudgetRaised{Tokens: 7, By: "ann"}, instance.Resolved{Number: 1, Text: "the budget was raised", By: "ann"},
				instance.Dispatched{State: "received", Owner: "pm"},
			}},
		{"a raise of a day is recorded for each budget, and changes nothing else", nil,
			[]step{opened()}, do(instance.RaiseDay{Budgets: []string{"day=5usd", "role=pm,day=2usd"}, USD: 5}),
			[]instance.Event{instance.DayRaised{Budget: "day=5usd", USD: 5, By: "ann"}, instance.DayRaised{Budget: "role=pm,day=2usd", USD: 5, By: "ann"}}},
		{"a raise in dollars is taken where a budget has dollars, too", []string{"budget_usd: 5.0", "budget_tokens: 9"},
			[]step{opened()}, do(instance.RaiseBudget{USD: 5}), []instance.Event{instance.BudgetRaised{USD: 5, By: "ann"}}},
		{"a raise of the budget decides nothing else", nil,
			[]step{opened(), claim("p1"), do(instance.Escalate{Token: 1, Reason: "which of the two?", RequiresHuman: true})},
			do(instance.RaiseBudget{Tokens: 7}), []instance.Event{instance.BudgetRaised{Tokens: 7, By: "ann"}}},
		{"a fault gives the work back", nil,
			[]step{opened(), claim("p1")}, do(instance.Fail{Token: 1, Reason: "disk"}),
			[]instance.Event{instance.Released{Token: 1, Agent: "p1", Reason: "disk", Fault: true}}},
		{"a release wakes the owner's other agents", nil,
			[]step{opened(), claim("p1")}, do(instance.Release{Token: 1, Reason: "stopping"}),
			[]instance.Event{instance.Released{Token: 1, Agent: "p1", Reason: "stopping"}, instance.Dispatched{State: "received", Owner: "pm"}}},
		{"a release keeps what was done so far, and what is kept of the step", nil,
			[]step{opened(), moveTo("implementing"), do(instance.Claim{Role: "developer", Agent: "d1", Work: 2, Lease: lease})},
			do(instance.Release{Token: 1, Reason: "the day's budget is spent", Head: "c1", Bundle: "b1", Artifacts: []instance.Artifact{{Name: "log", Object: "o"}}}),
			[]instance.Event{
				instance.Handed{Head: "c1", Bundle: "b1", Artifacts: []instance.Artifact{{Name: "log", Object: "o"}}},
				instance.Released{Token: 1, Agent: "d1", Reason: "the day's budget is spent"}, instance.Dispatched{State: "implementing", Owner: "developer"},
			}},
		{"one fault more than a policy bears pauses", []string{"max_faults: 1"},
			[]step{opened(), claim("p1")}, do(instance.Fail{Token: 1, Reason: "disk"}),
			[]instance.Event{
				instance.Released{Token: 1, Agent: "p1", Reason: "disk", Fault: true},
				instance.Paused{Reason: "1 infrastructure faults in received, the last: disk"},
			}},
		{"a fault whose end is known is waited for, and pauses nothing", []string{"max_faults: 1"},
			[]step{opened(), claim("p1")}, failUntil(time.Hour), []instance.Event{
				instance.Released{Token: 1, Agent: "p1", Reason: "limit", Fault: true, Until: opening().Add(time.Hour)},
			}},
		{"a fault that is over at once counts as one whose end is not known", []string{"max_faults: 1"},
			[]step{opened(), claim("p1")}, failUntil(time.Second), []instance.Event{
				instance.Released{Token: 1, Agent: "p1", Reason: "limit", Fault: true},
				instance.Paused{Reason: "1 infrastructure faults in received, the last: limit"},
			}},
		{"an override in a pause wakes nobody", nil,
			[]step{opened(), do(instance.Pause{})}, do(instance.Override{To: "implementing", Reason: "a typo"}),
			[]instance.Event{instance.Moved{From: "received", To: "implementing", Owner: "developer", Kind: workflow.Work, Rule: "override",
				Reason: "a typo", Override: true, ResetsFailures: true}}},
		{"the end of a pause wakes the owner of where it is now", nil,
			[]step{opened(), do(instance.Pause{}), do(instance.Override{To: "implementing", Reason: "a typo"})}, do(instance.Resume{Reason: "on"}),
			[]instance.Event{instance.Resumed{Reason: "on"}, instance.Dispatched{State: "implementing", Owner: "developer"}}},
		{"the end of a pause of a wait wakes nobody", nil,
			[]step{opened(), moveTo("waiting_for_human_input"), do(instance.Pause{})}, do(instance.Resume{}),
			[]instance.Event{instance.Resumed{}}},
		{"a retry of lapsed work dispatches it again", nil,
			[]step{opened(), claim("p1"), wait(lease)}, do(instance.Retry{}),
			[]instance.Event{instance.Dispatched{State: "received", Owner: "pm"}}},
		{"a cancellation does not wait for the agent", nil,
			[]step{opened(), claim("p1")}, do(instance.Cancel{Reason: "never mind"}),
			[]instance.Event{instance.CancelledBy{Reason: "never mind"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			def := builtin
			if c.policy != nil {
				def = issue(t, c.policy...)
			}
			s := given(t, def, c.given...)
			before := len(s.log)
			if err := c.when(s); err != nil {
				t.Fatal(err)
			}
			if len(s.log) != before+1 {
				t.Fatalf("%d commits, want one", len(s.log)-before)
			}
			if diff := cmp.Diff(c.then, s.log[before].Events); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestFaultsPauseInTheEndWithoutAPolicyToo(t *testing.T) {
	s := given(t, define(t, faulty), opened())
	for n := 1; !s.in.Paused; n++ {
		if n > 20 {
			t.Fatalf("%d faults do not pause", s.in.Faults)
		}
		if err := errors.Join(claim("c1")(s), do(instance.Fail{Token: s.in.Tokens, Reason: "disk"})(s)); err != nil {
			t.Fatal(err)
		}
	}
	if s.in.Faults != 20 {
		t.Errorf("paused after %d faults, want 20", s.in.Faults)
	}
}
