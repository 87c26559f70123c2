package instance_test

import (
	"errors"
	"math"
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/question"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// faulty is a lifecycle with faults that loading it does not find.
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

// byTokens is a lifecycle with a budget of tokens alone.
const byTokens = `{workflow: w, version: 1, initial: a, policy: {budget_tokens: 9}, states: {a: {owner: clerk, next: [z], decide: [{to: z}]}, z: {final: true}}}`

func TestARefusalSaysWhyAndWhatWouldBeTaken(t *testing.T) {
	which := do(instance.Ask{Token: 1, Text: "Which?", Form: question.Wanted{Within: time.Hour,
		Form: question.Form{Kind: question.Choice, Options: []string{"tabs", "spaces"}, Default: "spaces"}}})
	success := instance.Result{Status: instance.Success, ConfidenceScore: 1}
	with := func(change func(*instance.Result)) instance.Result {
		r := success
		change(&r)
		return r
	}
	proposing := func(next string) instance.Result { return with(func(r *instance.Result) { r.Next = next }) }
	lifecycles := map[string]*workflow.Definition{"": issue(t), faulty: define(t, faulty), byTokens: define(t, byTokens)}
	seen := map[instance.Code]bool{}
	statuses := []string{"success", "failure", "blocked"}
	start := []string{"guarded", "torn", "broken", "end"}

	for _, c := range []struct {
		name    string
		def     string // lifecycle of the instance; empty: the issue lifecycle
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
			code: instance.CodeInvalid, what: "the command has no action"},
		{name: "a command without an id", given: []step{opened()}, when: send(func(c *instance.Command) { c.ID = "" }),
			code: instance.CodeInvalid, what: "a command needs an id"},
		{name: "a command without an instance", given: []step{opened()}, when: send(func(c *instance.Command) { c.Instance = "" }),
			code: instance.CodeInvalid, what: "a command names its instance"},
		{name: "an action nobody knows", given: []step{opened()}, when: do(&instance.Pause{}),
			code: instance.CodeInvalid, what: "*instance.Pause is not an action"},

		{name: "a day's raise of two amounts", given: []step{opened()}, when: do(instance.RaiseDay{Budgets: []string{"day=5usd"}, USD: 5, Tokens: 5}),
			code: instance.CodeInvalid, what: "want one amount above zero, and no more than 1000000 dollars, 1000000000000 tokens or 10000 hours"},
		{name: "a day's raise beyond all bounds", given: []step{opened()}, when: do(instance.RaiseDay{Budgets: []string{"day=5usd"}, USD: math.Inf(1)}),
			code: instance.CodeInvalid, what: "want one amount above zero, and no more than 1000000 dollars, 1000000000000 tokens or 10000 hours"},
		{name: "a day's raise of no budget", given: []step{opened()}, when: do(instance.RaiseDay{USD: 5}),
			code: instance.CodeInvalid, what: "a raise names a budget"},
		{name: "a day's raise by an agent", given: []step{opened()}, when: send(func(c *instance.Command) { c.Actor, c.Do = "pm/p1", instance.RaiseDay{USD: 5} }),
			code: instance.CodeForbidden, what: "pm may not raise a budget: only people may", allowed: []string{"human"}},
		{name: "dollars for a budget of tokens", def: byTokens, given: []step{opened()}, when: do(instance.RaiseBudget{USD: 5}),
			code: instance.CodeInvalid, what: "its budget is of tokens alone, which dollars do not raise; want an amount such as +200000tokens"},

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
			do(instance.Answer{Number: 1, Text: "Yes"}), do(instance.Release{Token: 1}), claim("p1"), do(instance.Ask{Token: 2, Text: "B?"})},
			when: do(instance.Answer{Number: 1, Text: "No"}), code: instance.CodeInvalid,
			what: "question 1 is answered, and an agent works with the answer already; a note reaches the next one", allowed: []string{"2"}},
		{name: "an answer that is no option", given: []step{opened(), claim("p1"), which}, when: do(instance.Answer{Number: 1, Text: "z"}),
			code: instance.CodeInvalid, what: `question 1: no answer in the form of the question: "z"; permitted: a) tabs, b) spaces`,
			allowed: []string{"a) tabs", "b) spaces"}},
		{name: "two answers, one of them wrong", given: []step{opened(), claim("p1"), which},
			when: do(instance.Answer{Number: 1, Text: "a", More: []instance.QuestionAnswer{{Question: 2, Text: "b"}}}),
			code: instance.CodeInvalid, what: "question 2 is not open", allowed: []string{"1"}},
		{name: "a choice of one", given: []step{opened(), claim("p1")},
			when: do(instance.Ask{Token: 1, Text: "Which?", Form: question.Wanted{Form: question.Form{Kind: question.Choice, Options: []string{"this"}}}}),
			code: instance.CodeInvalid, what: "the question has no form that people can answer: a choice has 2 to 20 options, and this one 1"},
		{name: "a default before its time", given: []step{opened(), claim("p1"), which}, when: do(instance.TakeDefaults{}),
			code: instance.CodeEarly, what: "the next default is taken at 2026-01-02T10:00:00Z"},
		{name: "a default that nobody set", given: []step{opened()}, when: do(instance.TakeDefaults{}),
			code: instance.CodeStale, what: "no default is to be taken"},
		{name: "a signal without a name", given: []step{opened()}, when: do(instance.Signal{}),
			code: instance.CodeInvalid, what: "a signal needs a name"},
		{name: "an override to no state", given: []step{opened()}, when: do(instance.Override{To: "limbo", Reason: "why not"}),
			code: instance.CodeInvalid, what: `"limbo" is not a state of issue`, allowed: lifecycles[""].StateNames()},
		{name: "an override without a reason", given: []step{opened()}, when: do(instance.Override{To: "failed"}),
			code: instance.CodeInvalid, what: "an override needs a reason"},
		{name: "an override out of the end", given: []step{opened(), moveTo("completed")}, when: moveTo("received"),
			code: instance.CodeClosed, what: "ended in completed: nothing moves it any more", allowed: []string{"reopen"}},
		{name: "a pause of a pause", given: []step{opened(), do(instance.Pause{Reason: "lunch"})}, when: do(instance.Pause{}),
			code: instance.CodePaused, what: "already paused: lunch", allowed: []string{"resume"}},
		{name: "a resume without a pause", given: []step{opened()}, when: do(instance.Resume{}),
			code: instance.CodeInvalid, what: "not paused", allowed: []string{"pause"}},
		{name: "a cancellation of what has ended", given: []step{opened(), moveTo("failed")}, when: do(instance.Cancel{}),
			code: instance.CodeClosed, what: "ended in failed: nothing moves it any more", allowed: []string{"reopen"}},
		{name: "a claim of what was cancelled", given: []step{opened(), do(instance.Cancel{})}, when: claim("p1"),
			code: instance.CodeClosed, what: "cancelled in received: nothing moves it any more", allowed: []string{"reopen"}},
		{name: "a retry in a pause", given: []step{opened(), do(instance.Pause{Reason: "lunch"})}, when: do(instance.Retry{}),
			code: instance.CodePaused, what: "paused: lunch", allowed: []string{"resume"}},
		{name: "a retry where nobody works", given: []step{opened(), moveTo("waiting_for_human_input")}, when: do(instance.Retry{}),
			code: instance.CodeInvalid, what: "nobody works in waiting_for_human_input: it waits for a signal"},
		{name: "a retry while a person works", given: []step{opened(), claim("p1")}, when: do(instance.Retry{}),
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

// rich is a lifecycle with what the issue lifecycle does not have, in part with
// faults.
const rich = `
workflow: rich
version: 1
initial: doing
entries: [waiting]
policy: {max_inquiries: 1}
vars: {round: 0, sure: true}
may: {override: [cto, human], pause: [cto], resume: [cto], cancel: [human], retry: [human], migrate: [cto]}
resolves: {commented: "signal.data['missing'] == ''"}
states:
  doing:
    owner: doer
    timeout: 10m
    writes: [doer]
    next: [doing, torn, holed, blind, end]
    decide:
      - {when: result.status == 'blocked', stay: 1h, reason: not yet}
      - {when: result.status == 'failure', stay: signal, reason: nothing to do}
      - {to: end}
    on: {tear: torn, ask: holed, spawn: blind}
  checking: {owner: checker, writes: [checker], next: [end], decide: [{to: end}]}
  leading: {owner: cto, next: [end], decide: [{to: end}]}
  waiting: {next: [doing], on: {go: doing}}
  torn: {next: [end], always: [{when: "evidence['none'].ok", to: end}], on: {go: end}}
  holed: {next: [end], asks: [{when: "evidence['none'].ok", to: checker, text: which}], on: {go: end}}
  blind: {next: [end], spawns: [{when: "evidence['none'].ok", workflow: story}], on: {go: end}}
  claimed: {owner: doer, next: [end], on: {claimed: [{when: "evidence['none'].ok", to: end}]}, decide: [{to: end}]}
  strayed: {owner: doer, next: [end], on: {claimed: doing}, decide: [{to: end}]}
  back: {owner: doer, next: [end], decide: [{to: $previous}]}
  end: {final: true}
`

func TestARefusalOfWhatOnlySomeLifecyclesHave(t *testing.T) {
	def := define(t, rich)
	success := instance.Result{Status: instance.Success, ConfidenceScore: 1}
	blocked, failure := instance.Result{Status: instance.Blocked}, instance.Result{Status: instance.Failure}
	which := []instance.Inquiry{{To: "checker", Question: "Which?"}}
	asks := do(instance.Inquire{Token: 1, Questions: which})
	escalates := do(instance.Escalate{Token: 1, Reason: "help", RequiresHuman: true})
	inquire := func(token uint64, questions ...instance.Inquiry) step {
		return do(instance.Inquire{Token: token, Questions: questions})
	}
	open := func(change func(*instance.Open)) step {
		o := instance.Open{Issue: instance.Issue{Title: "Greeting is wrong"}}
		change(&o)
		return do(o)
	}
	take := func(role, agent string) step {
		return func(s *fixture) error {
			return do(instance.Claim{Role: role, Agent: agent, Work: s.in.Work, Lease: lease})(s)
		}
	}
	expire := func(entered uint64, level workflow.Level) step {
		return do(instance.Expire{Entered: entered, Level: level})
	}
	wake := func(at time.Duration) step { return do(instance.Wake{Until: opening().Add(at)}) }
	migrate := func(actor, text string) step {
		return func(s *fixture) error {
			was := s.def
			s.def = define(t, text)
			err := as(actor, instance.Migrate{})(s)
			s.def = was
			return err
		}
	}
	after := []step{do(instance.Open{Issue: instance.Issue{Title: "x"}, After: []string{"a/1", "a/2"}}),
		do(instance.End{Instance: "a/1", State: "end", Well: true})}
	resume, resolve, checker := []string{"resume"}, []string{"resolve"}, []string{"checker"}

	for _, c := range []struct {
		name    string
		given   []step
		when    step
		code    instance.Code
		what    string
		allowed []string
	}{
		{"an opening where none is", nil, open(func(o *instance.Open) { o.State = "end" }),
			instance.CodeInvalid, `no instance of rich opens in "end"`, []string{"doing", "waiting"}},
		{"an opening with an unknown var", nil, open(func(o *instance.Open) { o.Vars = map[string]string{"ruond": "1"} }),
			instance.CodeInvalid, `ruond: "1" is no value of a variable of rich`, []string{"round", "sure"}},
		{"an opening with a value of another type", nil, open(func(o *instance.Open) { o.Vars = map[string]string{"round": "one"} }),
			instance.CodeInvalid, `round: "one" is no value of a variable of rich`, []string{"round", "sure"}},
		{"an opening after itself", nil, open(func(o *instance.Open) { o.After = []string{"acme/widgets/42"} }),
			instance.CodeInvalid, "an instance depends on other instances, not on itself", nil},
		{"an opening after nothing", nil, open(func(o *instance.Open) { o.After = []string{"a/1", ""} }),
			instance.CodeInvalid, "an instance depends on other instances, not on itself", nil},

		{"a claim by the owner while another is asked", []step{opened(), claim("d1"), asks}, take("doer", "d1"),
			instance.CodeNotOwner, "doer is not who is asked in doing", checker},
		{"a claim while people are asked", []step{opened(), claim("d1"), escalates}, take("doer", "d1"),
			instance.CodePaused, "people are asked: help", resolve},
		{"a claim of what is parked", []step{opened(), works(blocked)}, take("doer", "d1"),
			instance.CodeStale, "doing is parked: not yet", nil},
		{"a claim whose reaction cannot be evaluated", []step{opened(), moveTo("claimed")}, take("doer", "d1"),
			instance.CodeUndecided, `claimed on claimed: guard failed: test.yaml: "evidence['none'].ok": no such key: none`, nil},
		{"a claim whose reaction leads where the table does not", []step{opened(), moveTo("strayed")}, take("doer", "d1"),
			instance.CodeNotPermitted, "strayed → doing", []string{"end"}},

		{"a report of another's section", []step{opened(), claim("d1")},
			report(instance.Result{Status: "success", Sections: map[string]string{"checker": "{}"}}),
			instance.CodeInvalid, `doer may not write section "checker"`, []string{"doer"}},
		{"a report of a section that is no JSON", []step{opened(), claim("d1")},
			report(instance.Result{Status: "success", Sections: map[string]string{"doer": "{"}}),
			instance.CodeInvalid, `section "doer" is not JSON`, nil},
		{"a report with a value of another type", []step{opened(), claim("d1")},
			report(instance.Result{Status: "success", Data: map[string]string{"sure": "maybe"}}),
			instance.CodeInvalid, `sure: "maybe" is no bool`, nil},
		{"an answer without a text", []step{opened(), claim("d1"), asks, take("checker", "c1")}, report(success),
			instance.CodeInvalid, "the summary of a result that answers question 1 is the answer: it needs a text", nil},
		{"a signal with a value of another type", []step{opened()}, do(instance.Signal{Name: "go", Data: map[string]string{"round": "x"}}),
			instance.CodeInvalid, `round: "x" is no int64`, nil},
		{"a signal that only the engine gives", []step{opened()}, do(instance.Signal{Name: "claimed"}),
			instance.CodeInvalid, "claimed is the engine's own event, not a signal", nil},
		{"a deadline as a signal", []step{opened()}, do(instance.Signal{Name: "timeout_alert"}),
			instance.CodeInvalid, "timeout_alert is the engine's own event, not a signal", nil},
		{"a signal whose resolving cannot be evaluated", []step{opened(), claim("d1"), escalates}, do(instance.Signal{Name: "commented"}),
			instance.CodeUndecided, `resolves commented: guard failed: test.yaml: "signal.data['missing'] == ''": no such key: missing`, nil},
		{"a move to where an always rule cannot be evaluated", []step{opened()}, do(instance.Signal{Name: "tear"}),
			instance.CodeUndecided, `torn always: guard failed: test.yaml: "evidence['none'].ok": no such key: none`, nil},
		{"a move to where a question cannot be evaluated", []step{opened()}, do(instance.Signal{Name: "ask"}),
			instance.CodeUndecided, `holed asks: guard failed: test.yaml: "evidence['none'].ok": no such key: none`, nil},
		{"a move to where a spawn cannot be evaluated", []step{opened()}, do(instance.Signal{Name: "spawn"}),
			instance.CodeUndecided, `blind spawns: guard failed: test.yaml: "evidence['none'].ok": no such key: none`, nil},
		{"an override to where a question cannot be evaluated", []step{opened()}, moveTo("holed"),
			instance.CodeUndecided, `holed asks: guard failed: test.yaml: "evidence['none'].ok": no such key: none`, nil},
		{"a return to where the table does not lead", []step{opened(), moveTo("back"), claim("d1")}, report(success),
			instance.CodeNotPermitted, "back → $previous", []string{"end"}},

		{"an inquiry without a claim", []step{opened()}, inquire(0),
			instance.CodeLapsed, "nobody holds a claim in doing; token 0 is over", nil},
		{"an inquiry in a pause", []step{opened(), claim("d1"), as("cto/c1", instance.Pause{Reason: "lunch"})}, inquire(1),
			instance.CodePaused, "paused: lunch", resume},
		{"an inquiry after nothing", []step{opened(), claim("d1")}, inquire(1),
			instance.CodeInvalid, "an inquiry asks something", nil},
		{"an inquiry without a text", []step{opened(), claim("d1")}, inquire(1, instance.Inquiry{To: "checker", Question: " "}),
			instance.CodeInvalid, "a question needs a text", nil},
		{"an inquiry of oneself", []step{opened(), claim("d1")}, inquire(1, instance.Inquiry{To: "doer", Question: "Which?"}),
			instance.CodeInvalid, "doer asks itself", []string{"checker", "cto"}},
		{"an inquiry of nobody", []step{opened(), claim("d1")}, inquire(1, instance.Inquiry{To: "boss", Question: "Which?"}),
			instance.CodeInvalid, `"boss" is not a role of rich`, []string{"checker", "cto"}},
		{"one inquiry too many", []step{opened(), claim("d1")},
			inquire(1, instance.Inquiry{To: "checker", Question: "Which?"}, instance.Inquiry{To: "cto", Question: "Why?"}),
			instance.CodeInvalid, "0 questions to roles are asked already, 1 are permitted", []string{"report"}},
		{"an inquiry with another's section", []step{opened(), claim("d1")},
			do(instance.Inquire{Token: 1, Questions: which, Sections: map[string]string{"doer": "{}", "checker": "{}"}}),
			instance.CodeInvalid, `doer may not write section "checker"`, []string{"doer"}},
		{"an inquiry with a section that is no JSON", []step{opened(), claim("d1")},
			do(instance.Inquire{Token: 1, Questions: which, Head: "c1", Sections: map[string]string{"doer": "{"}}),
			instance.CodeInvalid, `section "doer" is not JSON`, nil},
		{"a person's answer to a question of a role", []step{opened(), claim("d1"), asks}, do(instance.Answer{Number: 1, Text: "This"}),
			instance.CodeInvalid, "question 1 is not open", nil},

		{"an escalation without a claim", []step{opened()}, do(instance.Escalate{Reason: "help"}),
			instance.CodeLapsed, "nobody holds a claim in doing; token 0 is over", nil},
		{"an escalation without a reason", []step{opened(), claim("d1")}, do(instance.Escalate{Token: 1, Reason: " "}),
			instance.CodeInvalid, "an escalation needs a reason", nil},
		{"an escalation of who is asked with the asker's section", []step{opened(), claim("d1"), asks, take("checker", "c1")},
			do(instance.Escalate{Token: 2, Reason: "help", Sections: map[string]string{"doer": "{}"}}),
			instance.CodeInvalid, `checker may not write section "doer"`, []string{"checker"}},
		{"an escalation with a section that is no JSON", []step{opened(), claim("d1")},
			do(instance.Escalate{Token: 1, Reason: "help", RequiresHuman: true, Sections: map[string]string{"doer": ""}}),
			instance.CodeInvalid, `section "doer" is not JSON`, nil},
		{"a resolution of nothing", []step{opened()}, do(instance.Resolve{}),
			instance.CodeInvalid, "escalation 0 is not open", nil},
		{"a resolution of another", []step{opened(), claim("d1"), do(instance.Escalate{Token: 1, Reason: "odd"}), escalates},
			do(instance.Resolve{Number: 3}),
			instance.CodeInvalid, "escalation 3 is not open", []string{"1", "2"}},
		{"a second resolution", []step{opened(), claim("d1"), escalates, do(instance.Resolve{})}, do(instance.Resolve{Number: 1}),
			instance.CodeInvalid, "escalation 1 is not open", nil},
		{"a retry while people are asked", []step{opened(), claim("d1"), escalates}, do(instance.Retry{}),
			instance.CodePaused, "people are asked: help", resolve},

		{"a deadline of another stay", []step{opened(), moveTo("doing")}, expire(1, workflow.Warning),
			instance.CodeStale, "the stay in doing began with commit 2", nil},
		{"a deadline before it is due", []step{opened(), wait(8*time.Minute - 1)}, expire(1, workflow.Warning),
			instance.CodeEarly, "warning of doing is due at 2026-01-02T09:08:00Z", nil},
		{"a deadline that is reported already", []step{opened(), wait(time.Hour), expire(1, workflow.Alert)}, expire(1, workflow.Alert),
			instance.CodeStale, "alert is reported already", nil},
		{"a deadline before one that is told", []step{opened(), wait(time.Hour), expire(1, workflow.Alert)}, expire(1, workflow.Warning),
			instance.CodeStale, "warning is reported already", nil},
		{"a deadline of no level", []step{opened()}, expire(1, "someday"),
			instance.CodeInvalid, `doing has no deadline of level "someday"`, nil},
		{"a deadline where there is none", []step{opened(), moveTo("waiting")}, expire(2, workflow.Alert),
			instance.CodeInvalid, `waiting has no deadline of level "alert"`, nil},
		{"a deadline of what has ended", []step{opened(), works(success)}, expire(3, workflow.Alert),
			instance.CodeClosed, "ended in end: nothing moves it any more", []string{"reopen"}},
		{"a wake where nothing sleeps", []step{opened()}, wake(0),
			instance.CodeStale, "doing is not parked until 2026-01-02T09:00:00Z", nil},
		{"a wake for another time", []step{opened(), works(blocked)}, wake(time.Minute),
			instance.CodeStale, "doing is not parked until 2026-01-02T09:01:00Z", nil},
		{"a wake before its time", []step{opened(), works(blocked), wait(time.Hour - 1)}, wake(time.Hour),
			instance.CodeEarly, "doing is parked until 2026-01-02T10:00:00Z", nil},
		{"a wake of what no time wakes", []step{opened(), works(failure)}, do(instance.Wake{}),
			instance.CodeStale, "doing is not parked until 0001-01-01T00:00:00Z", nil},
		{"a wake in a pause", []step{opened(), works(blocked), as("cto/c1", instance.Pause{Reason: "lunch"}), wait(time.Hour)}, wake(time.Hour),
			instance.CodePaused, "paused: lunch", resume},

		{"the end of a stranger", after, do(instance.End{Instance: "a/3"}),
			instance.CodeInvalid, "a/3 is not linked to it", []string{"a/1", "a/2"}},
		{"a second end", after, do(instance.End{Instance: "a/1"}),
			instance.CodeStale, "the end of a/1 is known", nil},

		{"an override by who may not", []step{opened()}, as("doer/d1", instance.Override{To: "end", Reason: "done"}),
			instance.CodeForbidden, "doer may not override in rich", []string{"cto", "human"}},
		{"a cancellation by who may not", []step{opened()}, as("cto/c1", instance.Cancel{}),
			instance.CodeForbidden, "cto may not cancel in rich", []string{"human"}},
		{"a pause by who may not", []step{opened()}, as("github:acme/ann", instance.Pause{}),
			instance.CodeForbidden, "human may not pause in rich", []string{"cto"}},
		{"a resumption by who may not", []step{opened(), as("cto/c1", instance.Pause{})}, do(instance.Resume{}),
			instance.CodeForbidden, "human may not resume in rich", []string{"cto"}},
		{"a retry by who may not", []step{opened()}, as("cto/c1", instance.Retry{}),
			instance.CodeForbidden, "cto may not retry in rich", []string{"human"}},

		{"a migration to where it is", []step{opened()}, migrate("cto/c1", rich),
			instance.CodeInvalid, "it is on this definition already", nil},
		{"a migration to another lifecycle", []step{opened()}, migrate("cto/c1", faulty),
			instance.CodeInvalid, "faulty is another lifecycle", []string{"rich"}},
		{"a migration to where its state is not", []step{opened()},
			migrate("cto/c1", "workflow: rich\nversion: 2\ninitial: end\nstates: {end: {final: true}}"),
			instance.CodeInvalid, "the new definition has no state doing", []string{"end"}},
		{"a migration by who may not", []step{opened()}, migrate("ann", rich+"\n  new: {next: [end], on: {go: end}}\n"),
			instance.CodeForbidden, "human may not migrate in rich", []string{"cto"}},
		{"a migration while a person works", []step{opened(), claim("d1")}, migrate("cto/c1", rich+"\n  new: {next: [end], on: {go: end}}\n"),
			instance.CodeHeld, "d1 works on it until 2026-01-02T09:00:30Z", nil},
		{"a migration of what has ended", []step{opened(), works(success)}, migrate("cto/c1", rich+"\n  new: {next: [end], on: {go: end}}\n"),
			instance.CodeClosed, "ended in end: nothing moves it any more", []string{"reopen"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			refused(t, given(t, def, c.given...), c.when, instance.Refusal{Code: c.code, What: c.what, Allowed: c.allowed})
		})
	}
}

// refused runs a step that must be refused, compares the refusal, and returns its
// code.
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

// send sends a changed command.
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
