package instance_test

import (
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/workflow"
)

// rich is a lifecycle that has what the issue lifecycle does without, some of it with faults.
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
			instance.CodeInvalid, "what it comes after are other instances", nil},
		{"an opening after nothing", nil, open(func(o *instance.Open) { o.After = []string{"a/1", ""} }),
			instance.CodeInvalid, "what it comes after are other instances", nil},

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
			instance.CodeInvalid, "claimed is what the engine itself says, not a signal", nil},
		{"a deadline as a signal", []step{opened()}, do(instance.Signal{Name: "timeout_alert"}),
			instance.CodeInvalid, "timeout_alert is what the engine itself says, not a signal", nil},
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
		{"a deadline that is told already", []step{opened(), wait(time.Hour), expire(1, workflow.Alert)}, expire(1, workflow.Alert),
			instance.CodeStale, "alert is told already", nil},
		{"a deadline before one that is told", []step{opened(), wait(time.Hour), expire(1, workflow.Alert)}, expire(1, workflow.Warning),
			instance.CodeStale, "warning is told already", nil},
		{"a deadline of no level", []step{opened()}, expire(1, "someday"),
			instance.CodeInvalid, `doing has no deadline of level "someday"`, nil},
		{"a deadline where there is none", []step{opened(), moveTo("waiting")}, expire(2, workflow.Alert),
			instance.CodeInvalid, `waiting has no deadline of level "alert"`, nil},
		{"a deadline of what has ended", []step{opened(), works(success)}, expire(3, workflow.Alert),
			instance.CodeClosed, "ended in end: nothing moves it any more", nil},
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
		{"a migration while somebody works", []step{opened(), claim("d1")}, migrate("cto/c1", rich+"\n  new: {next: [end], on: {go: end}}\n"),
			instance.CodeHeld, "d1 works on it until 2026-01-02T09:00:30Z", nil},
		{"a migration of what has ended", []step{opened(), works(success)}, migrate("cto/c1", rich+"\n  new: {next: [end], on: {go: end}}\n"),
			instance.CodeClosed, "ended in end: nothing moves it any more", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			refused(t, given(t, def, c.given...), c.when, instance.Refusal{Code: c.code, What: c.what, Allowed: c.allowed})
		})
	}
}
