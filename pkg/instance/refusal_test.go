package instance_test

import (
	"errors"
	"math"
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/workflow"
)

// faulty is a lifecycle with the faults that loading one does not find.
const faulty = `
workflow: faulty
version: 1
initial: start
limits:
  - {name: unreadable, when: "'broken' in instance.visits && instance.visits['nowhere'] > 1", to: [end]}
gates:
  - {name: shut, to: [guarded], require: result.status == 'blocked', instead: [nowhere], reason: it is shut}
  - {name: torn, to: [torn], require: "evidence['none'].ok", instead: [end], reason: it is torn}
states:
  start:
    owner: clerk
    next: [guarded, torn, broken, end]
    decide:
      - {when: result.next == 'a', to: nowhere}
      - {when: result.next == 'b', to: guarded}
      - {when: result.next == 'c', to: torn}
      - {when: result.next == 'd', to: broken}
      - {when: "result.data['missing'] == ''", to: end}
    on:
      whistle: nowhere
      bell: [{when: "signal.data['missing'] == ''", to: end}]
  nowhere: {final: true}
  guarded: {owner: clerk, next: [end]}
  torn: {owner: clerk, next: [end]}
  broken: {owner: clerk, next: [end]}
  end: {final: true}
`

func TestARefusalSaysWhyAndWhatWouldBeTaken(t *testing.T) {
	success := instance.Result{Status: instance.Success, ConfidenceScore: 1}
	with := func(change func(*instance.Result)) instance.Result {
		r := success
		change(&r)
		return r
	}
	proposing := func(next string) instance.Result { return with(func(r *instance.Result) { r.Next = next }) }
	lifecycles := map[string]*workflow.Definition{"": issue(t), faulty: define(t, faulty)}
	seen := map[instance.Code]bool{}
	statuses := []string{"success", "failure", "blocked"}
	start := []string{"guarded", "torn", "broken", "end"}

	for _, c := range []struct {
		name    string
		def     string // of the instance; the issue lifecycle unless told
		given   []step
		when    step
		code    instance.Code
		what    string
		allowed []string
	}{
		{name: "an instance that was never opened", when: do(instance.Pause{}),
			code: instance.CodeUnknownInstance, what: "no such instance"},
		{name: "a second opening", given: []step{opened()}, when: opened(),
			code: instance.CodeExists, what: "there is already an instance of this id, in received"},
		{name: "an issue without a title", when: do(instance.Open{}),
			code: instance.CodeInvalid, what: "an issue needs a title"},
		{name: "nothing to do", given: []step{opened()}, when: do(nil),
			code: instance.CodeInvalid, what: "a command says what to do"},
		{name: "a command without an id", given: []step{opened()}, when: send(func(c *instance.Command) { c.ID = "" }),
			code: instance.CodeInvalid, what: "a command needs an id"},
		{name: "a command without an instance", given: []step{opened()}, when: send(func(c *instance.Command) { c.Instance = "" }),
			code: instance.CodeInvalid, what: "a command names its instance"},
		{name: "an action nobody knows", given: []step{opened()}, when: do(&instance.Pause{}),
			code: instance.CodeInvalid, what: "*instance.Pause is not an action"},

		{name: "a claim by another role", given: []step{opened()}, when: do(instance.Claim{Role: "tester", Agent: "t1", Work: 1, Lease: lease}),
			code: instance.CodeNotOwner, what: "tester does not own received", allowed: []string{"pm"}},
		{name: "a claim where nobody works", given: []step{opened(), moveTo("waiting_for_human_input")},
			when: do(instance.Claim{Role: "pm", Agent: "p1", Work: 1, Lease: lease}),
			code: instance.CodeNotOwner, what: "pm does not own waiting_for_human_input"},
		{name: "a claim by no role where nobody works", given: []step{opened(), moveTo("waiting_for_human_input")},
			when: do(instance.Claim{Agent: "p1", Work: 1, Lease: lease}),
			code: instance.CodeInvalid, what: "a claim names its role, its agent and a lease above zero"},
		{name: "a claim by no agent", given: []step{opened()}, when: do(instance.Claim{Role: "pm", Work: 1, Lease: lease}),
			code: instance.CodeInvalid, what: "a claim names its role, its agent and a lease above zero"},
		{name: "a claim without a lease", given: []step{opened()}, when: do(instance.Claim{Role: "pm", Agent: "p1", Work: 1}),
			code: instance.CodeInvalid, what: "a claim names its role, its agent and a lease above zero"},
		{name: "a claim of work that is past", given: []step{opened(), moveTo("blocked")},
			when: do(instance.Claim{Role: "pm", Agent: "p1", Work: 1, Lease: lease}),
			code: instance.CodeStale, what: "work 1 is past: blocked was dispatched as work 2"},
		{name: "a claim of work that is yet to come", given: []step{opened()},
			when: do(instance.Claim{Role: "pm", Agent: "p1", Work: 2, Lease: lease}),
			code: instance.CodeStale, what: "work 2 is past: received was dispatched as work 1"},
		{name: "a claim while another's lease lives", given: []step{opened(), claim("p1"), wait(lease - 1)}, when: claim("p2"),
			code: instance.CodeHeld, what: "p1 holds it until 2026-01-02T09:00:30Z"},
		{name: "a claim of what the agent holds already", given: []step{opened(), claim("p1")}, when: claim("p1"),
			code: instance.CodeHeld, what: "p1 already holds it, token 1, until 2026-01-02T09:00:30Z"},
		{name: "a claim while the clock is behind", given: []step{opened(), claim("p1"), wait(-time.Hour)}, when: claim("p2"),
			code: instance.CodeHeld, what: "p1 holds it until 2026-01-02T09:00:30Z"},
		{name: "a claim in a pause", given: []step{opened(), do(instance.Pause{Reason: "lunch"})}, when: claim("p1"),
			code: instance.CodePaused, what: "paused: lunch", allowed: []string{"resume"}},

		{name: "a report without a claim", given: []step{opened()}, when: do(instance.Report{Token: 1, Result: success}),
			code: instance.CodeLapsed, what: "nobody holds a claim in received; token 1 is over"},
		{name: "a report when the lease ran out and nobody took over", given: []step{opened(), claim("p1"), wait(lease)}, when: report(success),
			code: instance.CodeLapsed, what: "the lease of token 1 ran out at 2026-01-02T09:00:30Z"},
		{name: "a report when another took over", given: []step{opened(), claim("p1"), wait(lease), claim("p2")},
			when: do(instance.Report{Token: 1, Result: success}),
			code: instance.CodeLapsed, what: "token 1 is over: p2 holds token 2"},
		{name: "a report of a token that was never given out", given: []step{opened(), claim("p1")},
			when: do(instance.Report{Token: 2, Result: success}),
			code: instance.CodeLapsed, what: "token 2 is over: p1 holds token 1"},
		{name: "a second report", given: []step{opened(), works(success)}, when: report(success),
			code: instance.CodeLapsed, what: "nobody holds a claim in analyzing_requirements; token 1 is over"},
		{name: "a report in a pause", given: []step{opened(), claim("p1"), do(instance.Pause{Reason: "lunch"})}, when: report(success),
			code: instance.CodePaused, what: "paused: lunch", allowed: []string{"resume"}},
		{name: "a report after a pause", given: []step{opened(), claim("p1"), do(instance.Pause{}), do(instance.Resume{})}, when: report(success),
			code: instance.CodeLapsed, what: "nobody holds a claim in received; token 1 is over"},
		{name: "an unknown status", given: []step{opened(), claim("p1")}, when: report(with(func(r *instance.Result) { r.Status = "done" })),
			code: instance.CodeInvalid, what: `status "done"`, allowed: statuses},
		{name: "no status", given: []step{opened(), claim("p1")}, when: report(instance.Result{}),
			code: instance.CodeInvalid, what: `status ""`, allowed: statuses},
		{name: "a confidence above one", given: []step{opened(), claim("p1")},
			when: report(with(func(r *instance.Result) { r.ConfidenceScore = 85 })),
			code: instance.CodeInvalid, what: "confidence_score 85 is not between 0 and 1"},
		{name: "a confidence below zero", given: []step{opened(), claim("p1")},
			when: report(with(func(r *instance.Result) { r.ConfidenceScore = -0.1 })),
			code: instance.CodeInvalid, what: "confidence_score -0.1 is not between 0 and 1"},
		{name: "a confidence that is no number", given: []step{opened(), claim("p1")},
			when: report(with(func(r *instance.Result) { r.ConfidenceScore = math.NaN() })),
			code: instance.CodeInvalid, what: "confidence_score NaN is not between 0 and 1"},
		{name: "a cost that is no number", given: []step{opened(), claim("p1")},
			when: report(with(func(r *instance.Result) { r.Spend.USD = math.NaN() })),
			code: instance.CodeInvalid, what: "a cost is a number that is not below zero"},
		{name: "a result with an empty question", given: []step{opened(), claim("p1")},
			when: report(with(func(r *instance.Result) { r.Questions = []string{"Which?", ""} })),
			code: instance.CodeInvalid, what: "a question needs a text"},
		{name: "a heartbeat without a lease", given: []step{opened(), claim("p1")}, when: do(instance.Heartbeat{Token: 1}),
			code: instance.CodeInvalid, what: "a heartbeat asks for a lease above zero"},
		{name: "a heartbeat that comes too late", given: []step{opened(), claim("p1"), wait(lease)},
			when: do(instance.Heartbeat{Token: 1, Lease: lease}),
			code: instance.CodeLapsed, what: "the lease of token 1 ran out at 2026-01-02T09:00:30Z"},
		{name: "a release by another", given: []step{opened(), claim("p1")}, when: do(instance.Release{Token: 7}),
			code: instance.CodeLapsed, what: "token 7 is over: p1 holds token 1"},
		{name: "a fault without a claim", given: []step{opened()}, when: do(instance.Fail{}),
			code: instance.CodeLapsed, what: "nobody holds a claim in received; token 0 is over"},
		{name: "a question without a claim", given: []step{opened()}, when: do(instance.Ask{Text: "Why?"}),
			code: instance.CodeLapsed, what: "nobody holds a claim in received; token 0 is over"},
		{name: "a question without a text", given: []step{opened(), claim("p1")}, when: do(instance.Ask{Token: 1}),
			code: instance.CodeInvalid, what: "a question needs a text"},
		{name: "a cost without a claim", given: []step{opened()}, when: do(instance.Spend{}),
			code: instance.CodeLapsed, what: "nobody holds a claim in received; token 0 is over"},
		{name: "a negative cost", given: []step{opened(), claim("p1")}, when: do(instance.Spend{Token: 1, Spend: instance.Cost{USD: -1}}),
			code: instance.CodeInvalid, what: "a cost is a number that is not below zero"},
		{name: "an infinite cost", given: []step{opened(), claim("p1")},
			when: do(instance.Spend{Token: 1, Spend: instance.Cost{USD: math.Inf(1)}}),
			code: instance.CodeInvalid, what: "a cost is a number that is not below zero"},

		{name: "an answer nobody asked for", given: []step{opened()}, when: do(instance.Answer{Number: 1, Text: "Yes"}),
			code: instance.CodeInvalid, what: "question 1 is not open"},
		{name: "a second answer", given: []step{opened(), claim("p1"), do(instance.Ask{Token: 1, Text: "A?"}),
			do(instance.Ask{Token: 1, Text: "B?"}), do(instance.Answer{Number: 1, Text: "Yes"})}, when: do(instance.Answer{Number: 1, Text: "No"}),
			code: instance.CodeInvalid, what: "question 1 is not open", allowed: []string{"2"}},
		{name: "a signal without a name", given: []step{opened()}, when: do(instance.Signal{}),
			code: instance.CodeInvalid, what: "a signal needs a name"},
		{name: "an override to no state", given: []step{opened()}, when: do(instance.Override{To: "limbo", Reason: "why not"}),
			code: instance.CodeInvalid, what: `"limbo" is not a state of issue`, allowed: lifecycles[""].StateNames()},
		{name: "an override without a reason", given: []step{opened()}, when: do(instance.Override{To: "failed"}),
			code: instance.CodeInvalid, what: "an override needs a reason"},
		{name: "an override out of the end", given: []step{opened(), moveTo("completed")}, when: moveTo("received"),
			code: instance.CodeClosed, what: "ended in completed: nothing moves it any more"},
		{name: "a pause of a pause", given: []step{opened(), do(instance.Pause{Reason: "lunch"})}, when: do(instance.Pause{}),
			code: instance.CodePaused, what: "already paused: lunch", allowed: []string{"resume"}},
		{name: "a resume without a pause", given: []step{opened()}, when: do(instance.Resume{}),
			code: instance.CodeInvalid, what: "not paused", allowed: []string{"pause"}},
		{name: "a cancellation of what has ended", given: []step{opened(), moveTo("failed")}, when: do(instance.Cancel{}),
			code: instance.CodeClosed, what: "ended in failed: nothing moves it any more"},
		{name: "a claim of what was cancelled", given: []step{opened(), do(instance.Cancel{})}, when: claim("p1"),
			code: instance.CodeClosed, what: "cancelled in received: nothing moves it any more"},
		{name: "a retry in a pause", given: []step{opened(), do(instance.Pause{Reason: "lunch"})}, when: do(instance.Retry{}),
			code: instance.CodePaused, what: "paused: lunch", allowed: []string{"resume"}},
		{name: "a retry where nobody works", given: []step{opened(), moveTo("waiting_for_human_input")}, when: do(instance.Retry{}),
			code: instance.CodeInvalid, what: "nobody works in waiting_for_human_input: it waits for a signal"},
		{name: "a retry while somebody works", given: []step{opened(), claim("p1")}, when: do(instance.Retry{}),
			code: instance.CodeHeld, what: "p1 works on it until 2026-01-02T09:00:30Z"},

		{name: "a rule that leads where the table does not", def: faulty, given: []step{opened(), claim("c1")}, when: report(proposing("a")),
			code: instance.CodeNotPermitted, what: "start → nowhere", allowed: start},
		{name: "a signal that leads where the table does not", def: faulty, given: []step{opened()}, when: do(instance.Signal{Name: "whistle"}),
			code: instance.CodeNotPermitted, what: "start → nowhere", allowed: start},
		{name: "a gate with no way around it", def: faulty, given: []step{opened(), claim("c1")}, when: report(proposing("b")),
			code: instance.CodeUndecided, what: "gate shut forbids start → guarded and offers no permitted way", allowed: start},
		{name: "a gate that cannot be evaluated", def: faulty, given: []step{opened(), claim("c1")}, when: report(proposing("c")),
			code: instance.CodeUndecided, what: `gate torn: guard failed: test.yaml: "evidence['none'].ok": no such key: none`},
		{name: "a limit that cannot be evaluated", def: faulty, given: []step{opened(), claim("c1")}, when: report(proposing("d")),
			code: instance.CodeUndecided,
			what: `limit unreadable: guard failed: test.yaml: "'broken' in instance.visits && instance.visits['nowhere'] > 1": no such key: nowhere`},
		{name: "a rule that cannot be evaluated", def: faulty, given: []step{opened(), claim("c1")}, when: report(success),
			code: instance.CodeUndecided, what: `start: guard failed: test.yaml: "result.data['missing'] == ''": no such key: missing`},
		{name: "a signal's rule that cannot be evaluated", def: faulty, given: []step{opened()}, when: do(instance.Signal{Name: "bell"}),
			code: instance.CodeUndecided, what: `start on bell: guard failed: test.yaml: "signal.data['missing'] == ''": no such key: missing`},
		{name: "a result that no rule covers", def: faulty, given: []step{opened(), moveTo("guarded"), claim("c1")}, when: report(success),
			code: instance.CodeUndecided, what: "no rule of faulty in guarded covers the result", allowed: []string{"end"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			seen[refused(t, given(t, lifecycles[c.def], c.given...), c.when,
				instance.Refusal{Code: c.code, What: c.what, Allowed: c.allowed})] = true
		})
	}
	for _, code := range []instance.Code{instance.CodeUnknownInstance, instance.CodeExists, instance.CodeInvalid, instance.CodeNotPermitted,
		instance.CodeNotOwner,
		instance.CodeStale, instance.CodeHeld, instance.CodeLapsed, instance.CodePaused, instance.CodeClosed, instance.CodeUndecided} {
		if !seen[code] {
			t.Errorf("no case is refused as %s", code)
		}
	}
}

// refused holds what a step is refused as against what is wanted.
func refused(t *testing.T, s *fixture, when step, want instance.Refusal) instance.Code {
	t.Helper()
	before := dump(t, s.in)
	err := when(s)
	var no *instance.Refusal
	if !errors.As(err, &no) {
		t.Fatalf("error %v, want a refusal", err)
	}
	got := instance.Refusal{Code: no.Code, What: regexp.MustCompile(`test\.yaml:\d+:\d+`).ReplaceAllString(no.What, "test.yaml"),
		Allowed: no.Allowed}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if !errors.Is(err, &instance.Refusal{Code: want.Code}) || errors.Is(err, &instance.Refusal{}) {
		t.Errorf("errors.Is does not go by the code of %v", err)
	}
	if diff := cmp.Diff(before, dump(t, s.in)); diff != "" {
		t.Errorf("a refusal recorded something:\n%s", diff)
	}
	return no.Code
}

// send sends a command that was tampered with.
func send(tamper func(*instance.Command)) step {
	return func(s *fixture) error {
		cmd := s.command("ann", instance.Pause{})
		tamper(&cmd)
		_, err := s.send(cmd)
		return err
	}
}

func TestARefusalReadsWithItsInstanceAndWhatIsPermitted(t *testing.T) {
	s := given(t, issue(t), opened())
	err := do(instance.Claim{Role: "tester", Agent: "t1", Work: 1, Lease: lease})(s)
	if want := "acme/widgets/42: tester does not own received; permitted: pm"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	err = claim("p1")(given(t, issue(t), opened(), claim("p2")))
	if want := "acme/widgets/42: p2 holds it until 2026-01-02T09:00:30Z"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
