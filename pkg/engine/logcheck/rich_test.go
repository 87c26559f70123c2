package logcheck_test

import (
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// richLifecycle is a lifecycle with questions, deadlines, parks and failures.
const richLifecycle = `
workflow: errand
version: 1
initial: plan
entries: [ship]
limits: [{name: stuck, when: "instance.failures >= 2", to: help}]
states:
  plan: {owner: worker, timeout: 10s, next: [make], on: {claimed: make}, decide: [{to: make}]}
  make:
    owner: worker
    timeout: 100s
    writes: [notes]
    next: [make, ship, help, done]
    decide:
      - {when: "result.status == 'success'", to: ship}
      - {when: "result.status == 'blocked'", stay: 5s}
      - {to: make, failure: true}
  help: {owner: judge, next: [make, done], decide: [{to: make, fresh: true}]}
  ship: {next: [make, done], on: {merged: done}}
  done: {final: true}
`

func load(t *testing.T, source string) *workflow.Definition {
	t.Helper()
	d, err := workflow.Load("a lifecycle", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

const makeTimeout = 100 * time.Second // of make

var (
	plan    = instance.Dispatched{State: "plan", Owner: "worker"}
	work    = instance.Dispatched{State: "make", Owner: "worker"}
	help    = instance.Dispatched{State: "help", Owner: "judge"}
	which   = instance.Asked{Number: 1, From: "worker", Text: "Which?", To: "judge"}
	half    = instance.Handed{Head: "c1", Bundle: "b1", Sections: map[string]string{"notes": "{}"}}
	toJudge = instance.Dispatched{State: "make", Owner: "judge", Question: 1}
	that    = instance.Answered{Number: 1, Text: "That.", By: "judge"}
	stuck   = instance.Escalated{Number: 1, Agent: "worker", Reason: "stuck", RequiresHuman: true}
	taken   = instance.Moved{From: "plan", To: "make", Owner: "worker", Kind: workflow.Work, Rule: "claimed", Timeout: makeTimeout,
		KeepsClaim: true}
	again = instance.Moved{From: "make", To: "make", Owner: "worker", Kind: workflow.Work, Rule: "decide", Timeout: makeTimeout,
		Failure: true}
	aside  = instance.Moved{From: "make", To: "help", Owner: "judge", Kind: workflow.Work, Rule: "stuck", Failure: true}
	helped = instance.Moved{From: "help", To: "make", Owner: "worker", Kind: workflow.Work, Rule: "decide", Timeout: makeTimeout,
		ResetsFailures: true}
	merged = instance.Moved{From: "ship", To: "done", Kind: workflow.Final, Rule: "signal"}
	warned = instance.TimedOut{State: "make", Level: workflow.Warning, After: 80 * time.Second}
	ended  = instance.LinkEnded{Instance: "b", State: "done", Well: true}
	toHand = instance.Moved{From: "make", To: "done", Kind: workflow.Final, Rule: "override", Override: true, ResetsFailures: true}
)

func openedRich(d *workflow.Definition) instance.Opened {
	return instance.Opened{Workflow: "errand", Definition: d.Hash, State: "plan", Owner: "worker", Kind: workflow.Work,
		Timeout: 10 * time.Second}
}

func answered(token uint64) instance.Reported {
	return instance.Reported{Token: token, Role: "judge", Agent: "pat", State: "make", Question: 1}
}

func noted(r instance.Reported, text string) instance.Reported {
	r.Result.Sections = map[string]string{"notes": text}
	return r
}

func richScript(d, newer *workflow.Definition) []step {
	child := instance.Opened{Workflow: "errand", Definition: d.Hash, State: "ship", Kind: workflow.Wait, Parent: "a"}
	migrated := instance.Migrated{From: d.Hash, Definition: newer.Hash, Owner: "worker", Kind: workflow.Work, Timeout: makeTimeout}
	return []step{
		{0, "a", events(openedRich(d), plan)},                                                                                     // 1
		{1, "a", events(claimed(1, "worker", "eve", 11), taken)},                                                                  // 2: until 11
		{5, "a", events(half, instance.Released{Token: 1, Agent: "eve"}, which, toJudge)},                                         // 3
		{6, "a", events(claimed(2, "judge", "pat", 16))},                                                                          // 4
		{7, "a", events(answered(2), that, work)},                                                                                 // 5
		{8, "a", events(claimed(3, "worker", "eve", 18))},                                                                         // 6
		{9, "a", events(half, instance.Released{Token: 3, Agent: "eve"}, stuck)},                                                  // 7
		{10, "a", events(instance.Resolved{Number: 1, By: "ann"}, work)},                                                          // 8
		{11, "a", events(claimed(4, "worker", "eve", 200))},                                                                       // 9
		{81, "a", events(warned)},                                                                                                 // 10: entered at 1
		{82, "a", events(reported(4, "worker", "eve", "make"), instance.ParkedUntil{State: "make", Until: atSecond(87)})},         // 11
		{87, "a", events(work)},                                                                                                   // 12
		{88, "a", events(claimed(5, "worker", "eve", 98))},                                                                        // 13
		{89, "a", events(reported(5, "worker", "eve", "make"), again, work)},                                                      // 14
		{90, "a", events(claimed(6, "worker", "eve", 99))},                                                                        // 15
		{91, "a", events(reported(6, "worker", "eve", "make"), aside, instance.Spawned{Instance: "b", Workflow: "errand"}, help)}, // 16
		{91, "b", events(child)},                                                                                                  // 17
		{92, "a", events(claimed(7, "judge", "pat", 99))},                                                                         // 18
		{93, "a", events(reported(7, "judge", "pat", "help"), helped, work)},                                                      // 19
		{94, "b", events(merged)},                                                                                                 // 20
		{95, "a", events(ended)},                                                                                                  // 21
		{96, "a", events(migrated, work)},                                                                                         // 22
		{97, "a", events(toHand, instance.Spawned{Instance: "c", Workflow: "errand"})},                                            // 23
	}
}

func TestARichLogHasNoViolations(t *testing.T) {
	d, newer := load(t, richLifecycle), load(t, richLifecycle+"# mended\npolicy: {mended: true}\n")
	r := checkAll(commitsOf(t, richScript(d, newer)), d, newer)
	for _, v := range r.Violations {
		t.Error(v)
	}
	if c := r.Claims[0]; c.State != "plan" || !c.From.Equal(atSecond(1)) || !c.To.Equal(atSecond(5)) {
		t.Errorf("the first claim, which a move kept, is %+v", c)
	}
	if half := checkAll(commitsOf(t, richScript(d, newer)[:16]), d, newer); !gocmp.Equal(half.Failures,
		map[string]map[string]int{"a": {"make": 2}}) {
		t.Errorf("the failures are %v", half.Failures)
	}
}

// Each fault is planted in the sound script before it is stored.
func TestWhatTheEngineMustNotWriteOfARichLifecycleIsNamed(t *testing.T) {
	d, newer := load(t, richLifecycle), load(t, richLifecycle+"# mended\npolicy: {mended: true}\n")
	put := func(i int, e ...instance.Event) func([]step) []step {
		return func(s []step) []step { s[i-1].events = e; return s }
	}
	late := func(i, at int) func([]step) []step {
		return func(s []step) []step { s[i-1].at = at; return s }
	}
	insert := func(at int, new step) func([]step) []step {
		return func(s []step) []step { return slices.Insert(s, at-1, new) }
	}
	changed := func(m instance.Moved, f func(*instance.Moved)) instance.Moved { f(&m); return m }
	for name, c := range map[string]struct {
		plant func([]step) []step
		want  []string
	}{
		"a question claimed by who asked":    {put(4, claimed(2, "worker", "eve", 16)), []string{"4 a asking", "5 a fence"}},
		"a question dispatched to who asked": {put(3, instance.Released{Token: 1}, which, work), []string{"3 a asking"}},
		"another question dispatched": {put(3, instance.Released{Token: 1}, which,
			instance.Dispatched{State: "make", Owner: "judge", Question: 2}), []string{"3 a asking"}},
		"a question dispatched that nobody asked": {put(12, instance.Dispatched{State: "make", Owner: "judge", Question: 1}),
			[]string{"12 a asking"}},
		"a question out of turn": {put(3, instance.Released{Token: 1}, instance.Asked{Number: 2, To: "judge"}, toJudge),
			[]string{"3 a asking"}},
		"a question to nobody's role": {put(3, instance.Released{Token: 1}, instance.Asked{Number: 1, To: "king"}),
			[]string{"3 a asking", "4 a asking", "5 a asking"}},
		"an answer by another role": {put(5, answered(2), instance.Answered{Number: 1, By: "worker"}, work),
			[]string{"5 a asking"}},
		"an answer to nothing":          {put(5, answered(2), that, that, work), []string{"5 a asking"}},
		"a result that answers nothing": {put(5, reported(2, "judge", "pat", "make"), that, work), []string{"5 a asking"}},
		"an answer outside its result": {put(14, instance.Reported{Token: 5, Role: "worker", Agent: "eve", State: "make",
			Question: 1}, again, work), []string{"14 a asking"}},
		"work before the answer": {put(5, answered(2), work),
			[]string{"5 a asking", "6 a asking", "8 a asking", "9 a asking", "11 a asking", "12 a asking", "13 a asking", "14 a asking"}},
		"a claim while people are waited for": {insert(8, step{9, "a", events(claimed(4, "worker", "joe", 10))}),
			[]string{"8 a asking", "10 a token"}},
		"work while people are waited for": {insert(8, step{9, "a", events(work)}), []string{"8 a asking"}},
		"a claim kept over an escalation": {put(7, stuck, instance.LeaseExtended{Token: 3, Lease: atSecond(30)}),
			[]string{"7 a fence"}},
		"an escalation out of turn": {put(7, instance.Escalated{Number: 2, Agent: "worker"}),
			[]string{"7 a asking", "9 a overlap"}},
		"a resolution of nothing": {put(8, instance.Resolved{Number: 2}, work),
			[]string{"8 a asking", "8 a asking", "9 a asking", "12 a asking", "13 a asking", "14 a asking", "15 a asking", "16 a asking",
				"18 a asking", "19 a asking", "22 a asking"}},
		"an escalation resolved twice": {put(8, instance.Resolved{Number: 1}, instance.Resolved{Number: 1}, work),
			[]string{"8 a asking"}},
		"a warning right before its time": {late(10, 80), []string{"10 a deadline", "10 a deadline"}},
		"a warning told twice":            {insert(11, step{81, "a", events(warned)}), []string{"11 a deadline"}},
		"a warning after the alert": {put(10, instance.TimedOut{State: "make", Level: workflow.Alert, After: 80 * time.Second},
			warned), []string{"10 a deadline", "10 a deadline"}},
		"a deadline of no level": {put(10, instance.TimedOut{State: "make", Level: "doom"}), []string{"10 a deadline"}},
		"a deadline of a state without": {insert(18,
			step{91, "b", events(instance.TimedOut{State: "ship", Level: workflow.Warning})}), []string{"18 b deadline"}},
		"a deadline of another state": {put(10,
			instance.TimedOut{State: "plan", Level: workflow.Warning, After: 80 * time.Second}), []string{"10 a from"}},
		"a deadline of another length": {put(10, instance.TimedOut{State: "make", Level: workflow.Warning, After: time.Second}),
			[]string{"10 a deadline"}},
		"a timeout the table does not have": {put(2, claimed(1, "worker", "eve", 11),
			changed(taken, func(m *instance.Moved) { m.Timeout = time.Second })), []string{"2 a table"}},
		"a claim of what is parked": {put(12, claimed(5, "worker", "eve", 88)),
			[]string{"12 a parking", "13 a parking", "13 a token"}},
		"a stay under a person's hands": {insert(10, step{12, "a", events(instance.ParkedUntil{State: "make"})}),
			[]string{"10 a parking"}},
		"a stay in another state": {put(11, reported(4, "worker", "eve", "make"), instance.ParkedUntil{State: "plan"}),
			[]string{"11 a from"}},
		"a claim kept that nobody has": {put(2, taken), []string{"2 a fence", "3 a fence", "3 a fence"}},
		"a claim kept into another's state": {put(14, changed(aside, func(m *instance.Moved) { m.KeepsClaim = true })),
			[]string{"14 a owner", "15 a owner", "15 a overlap", "16 a from", "16 a from"}},
		"a claim taken while one is kept": {insert(3, step{2, "a", events(claimed(2, "worker", "joe", 5))}),
			[]string{"3 a overlap", "4 a fence", "4 a fence", "5 a token"}},
		"a limit that is no failure": {put(16, reported(6, "worker", "eve", "make"),
			changed(aside, func(m *instance.Moved) { m.Failure = false }), instance.Spawned{Instance: "b"}, help), []string{"16 a failing"}},
		"a failure by hand": {put(23, changed(toHand, func(m *instance.Moved) { m.Failure = true })),
			[]string{"23 a failing"}},
		"an end of what is not linked":             {put(21, instance.LinkEnded{Instance: "c", State: "done"}), []string{"21 a link"}},
		"an instance that is opened after the end": {insert(24, step{98, "a", events(instance.Spawned{Instance: "d"})}), []string{"24 a end"}},
		"an end that is heard twice":               {put(21, ended, ended), []string{"21 a link"}},
		"an end before it":                         {insert(20, step{93, "a", events(ended)}), []string{"20 a link", "22 a link"}},
		"an end elsewhere":                         {put(21, instance.LinkEnded{Instance: "b", State: "help"}), []string{"21 a link"}},
		"an opening where none is": {put(17, instance.Opened{Workflow: "errand", Definition: d.Hash, State: "help",
			Owner: "judge", Kind: workflow.Work}), []string{"17 b opening", "20 b from"}},
		"a migration from elsewhere": {put(22, instance.Migrated{From: "c0ffee", Definition: newer.Hash, Owner: "worker",
			Kind: workflow.Work, Timeout: makeTimeout}, work), []string{"22 a from"}},
		"a migration to nowhere": {put(22, instance.Migrated{From: d.Hash, Definition: "c0ffee", Owner: "worker",
			Kind: workflow.Work, Timeout: makeTimeout}, work), []string{"22 a definition"}},
		"a migration to another owner": {put(22, instance.Migrated{From: d.Hash, Definition: newer.Hash, Owner: "judge",
			Kind: workflow.Work, Timeout: makeTimeout}), []string{"22 a table"}},
		"a migration under a person's hands": {insert(22, step{95, "a", events(claimed(8, "worker", "eve", 99))}),
			[]string{"23 a overlap"}},
		"a commit to a role that is not asked": {put(5, answered(2), that,
			instance.Dispatched{State: "make", Owner: "judge", Question: 1}), []string{"5 a asking"}},
		"a question that outlives the state": {put(5, answered(2), again, toJudge),
			[]string{"5 a asking", "10 a deadline", "10 a deadline"}},
		"work handed over by nobody":                {put(3, instance.Released{Token: 1}, half, which, toJudge), []string{"3 a fence"}},
		"work handed over under a lease that ended": {late(7, 18), []string{"7 a fence", "7 a fence", "8 a time"}},
		"a section handed over that is no JSON": {put(3, instance.Handed{Sections: map[string]string{"notes": "{"}},
			instance.Released{Token: 1}, which, toJudge), []string{"3 a document"}},
		"a section of another role": {put(5, noted(answered(2), "{}"), that, work), []string{"5 a document"}},
		"a section that is no JSON": {put(14, noted(reported(5, "worker", "eve", "make"), ""), again, work),
			[]string{"14 a document"}},
		"an escalation that does not address people": {put(7, instance.Released{Token: 3, Agent: "eve"}, stuck, work), []string{"7 a asking"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := checkAll(commitsOf(t, c.plant(richScript(d, newer))), d, newer)
			if diff := gocmp.Diff(c.want, formatViolations(r)); diff != "" {
				t.Errorf("violations (-want +got):\n%s%v", diff, r.Violations)
			}
		})
	}
}
