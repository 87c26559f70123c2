package logcheck_test

import (
	"slices"
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// gatedLifecycle has a gate that wants the tests of who tests.
const gatedLifecycle = `
workflow: gated
version: 1
initial: make
policy: {strict: true}
vars: {sure: false, pushed: ""}
gates:
  - {name: tested, to: done, instead: make, require: "!policy.strict ||
      vars.sure && 'tests' in evidence && evidence['tests'].ok && evidence['tests'].commit == instance.head"}
states:
  make: {owner: dev, work: {change: required}, next: [check, done, make], decide: [{to: check}]}
  check: {owner: tester, work: {runs: tests}, next: [done, make], decide: [{to: done, set: {sure: true}}, {to: make}]}
  done: {final: true}
`

func gatedScript(d *workflow.Definition) []step {
	opened := instance.Opened{Workflow: "gated", Definition: d.Hash, State: "make", Owner: "dev", Kind: workflow.Work, Base: "c0"}
	made := reported(1, "dev", "eve", "make")
	made.Result.Head = "c1"
	checked := reported(2, "tester", "pat", "check")
	checked.Result.Evidence = []instance.Evidence{{Name: "tests", OK: true, Commit: "c1", Role: "tester", Agent: "pat"}}
	toCheck := instance.Moved{From: "make", To: "check", Owner: "tester", Kind: workflow.Work, Rule: "decide"}
	toDone := instance.Moved{From: "check", To: "done", Kind: workflow.Final, Rule: "decide"}
	return []step{
		{0, "a", events(opened, instance.Dispatched{State: "make", Owner: "dev"})},
		// 1
		{1, "a", events(claimed(1, "dev", "eve", 11))},
		// 2
		{2, "a", events(made, toCheck, instance.Dispatched{State: "check", Owner: "tester"})},
		// 3
		{3, "a", events(claimed(2, "tester", "pat", 13))},
		// 4
		{4, "a", events(instance.Signalled{Name: "seen", Actor: "ann",
			Evidence: []instance.Evidence{{Name: "weather", OK: true, Agent: "ann"}}})}, // 5
		{5, "a", events(checked, instance.Remembered{Vars: map[string]string{"sure": "true", "pushed": "c1"}}, toDone)},
		// 6
	}
}

// Each statement that nobody may make, and each gate that is passed by, is planted in a
// sound log.
func TestWhatIsNotTheirsToSayAndAGateThatDoesNotHoldAreNamed(t *testing.T) {
	d := load(t, gatedLifecycle)
	evidence := func(s []step, i int, change func(*instance.Evidence)) []step {
		r := s[i-1].events[0].(instance.Reported)
		r.Result.Evidence = slices.Clone(r.Result.Evidence)
		change(&r.Result.Evidence[0])
		s[i-1].events = slices.Clone(s[i-1].events)
		s[i-1].events[0] = r
		return s
	}
	for name, c := range map[string]struct {
		plant func([]step) []step
		want  []string
	}{
		"nothing": {func(s []step) []step { return s }, nil},
		"tests of who is tested": {func(s []step) []step {
			r := s[2].events[0].(instance.Reported)
			r.Result.Evidence = []instance.Evidence{{Name: "tests", OK: true, Commit: "c1", Role: "dev", Agent: "eve"}}
			s[2].events[0] = r
			return s
		}, []string{"3 a statement"}},
		"tests signed by another": {func(s []step) []step { return evidence(s, 6, func(e *instance.Evidence) { e.Agent = "joe" }) },
			[]string{"6 a statement"}},
		"tests signed by another role": {func(s []step) []step { return evidence(s, 6, func(e *instance.Evidence) { e.Role = "dev" }) },
			[]string{"6 a statement"}},
		"tests of before there were signatures": {func(s []step) []step {
			return evidence(s, 6, func(e *instance.Evidence) { e.Role, e.Agent = "", "" })
		}, nil},
		"tests of a person's signal": {func(s []step) []step {
			s[4].events = events(instance.Signalled{Name: "seen", Actor: "ann",
				Evidence: []instance.Evidence{{Name: "tests", OK: true, Agent: "ann"}}})
			return s
		}, []string{"5 a statement"}},
		"a pass on another commit": {func(s []step) []step { return evidence(s, 6, func(e *instance.Evidence) { e.Commit = "c0" }) },
			[]string{"6 a gate"}},
		"no pass": {func(s []step) []step { return evidence(s, 6, func(e *instance.Evidence) { e.OK = false }) },
			[]string{"6 a gate"}},
		"a variable that was not set": {func(s []step) []step {
			s[5].events = slices.Delete(slices.Clone(s[5].events), 1, 2)
			return s
		}, []string{"6 a gate"}},
		"a push of another commit": {func(s []step) []step {
			s[5].events = slices.Clone(s[5].events)
			s[5].events[1] = instance.Remembered{Vars: map[string]string{"sure": "true", "pushed": "c0"}}
			return s
		}, []string{"6 a effect"}},
		"an override, which no gate stops": {func(s []step) []step {
			s[5].events = events(instance.Moved{From: "check", To: "done", Kind: workflow.Final, Rule: "override", Override: true})
			return s
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := formatViolations(checkAll(commitsOf(t, c.plant(gatedScript(d))), d)); !slices.Equal(got, c.want) {
				t.Errorf("it names %q, want %q", got, c.want)
			}
		})
	}
}
