package workflow

import (
	"strings"
	"testing"
)

func TestBuiltinsAreProven(t *testing.T) {
	for _, d := range builtins(t) {
		for _, p := range Verify(d, roles...) {
			t.Error(p)
		}
	}
}

// roles are those that the lifecycles' sources name.
var roles = []string{
	"pm", "analyst", "tester", "developer", "navigator",
	"triage", "writer", "build", "reviewer", "committer", "shepherd",
	"solution-validator", "fullstack-developer", "quality-monitor", "git-manager", "cto", "plan-manager",
}

// proven is a definition that Verify has nothing against; tests break it.
const proven = `workflow: proven
version: 1
initial: open
policy: {most: 3}
limits:
  - {name: budget, when: instance.returns >= policy.most, to: [done, dropped]}
gates:
  - {name: checked, to: done, require: "'tests' in evidence", instead: [open, checking]}
states:
  open:
    owner: dev
    next: [checking, waiting, dropped]
    decide:
      - {when: result.status == 'success', to: checking}
      - {to: waiting}
  checking:
    owner: tester
    next: [open, done]
    decide:
      - {when: result.status == 'success', to: done}
      - {to: open}
  waiting:
    next: [open, dropped]
    on:
      commented: open
      abandoned: dropped
  done: {final: true}
  dropped: {final: true}
`

func TestVerifySaysWhatIsWrongAndWhere(t *testing.T) {
	if ps := Verify(loaded(t, proven), "dev", "tester"); ps != nil {
		t.Fatalf("the sound definition has %v", ps)
	}
	for _, c := range []struct{ name, old, new, want string }{
		{"a state nobody comes to", "  done: {final: true}", "  done: {final: true}\n  lost: {final: true}",
			"small.yaml:28:3: lost cannot be reached from open"},
		{"a state only a row permits that nobody may propose", "    owner: dev\n    next: [checking, waiting, dropped]", "    owner: dev\n    proposes: false\n    next: [checking, waiting, dropped, lost]",
			"cannot be reached from open"},
		{"a wait without a signal", "    on:\n      commented: open\n      abandoned: dropped\n", "",
			"small.yaml:22:3: waiting waits for nothing: no signal and no always rule leads out of it"},
		{"a state without a way out", "[open, dropped]\n    on:\n      commented: open\n      abandoned: dropped\n", "[]\n",
			"small.yaml:22:3: waiting has no way out and is not final"},
		{"an owner on whom all depends", "next: [checking, waiting, dropped]", "next: [checking, waiting]",
			"small.yaml:10:3: open depends on dev alone: no limit on a count and no signal leads out of it, and it has no timeout"},
		{"no budget", "limits:\n  - {name: budget, when: instance.returns >= policy.most, to: [done, dropped]}\n", "",
			"a run may go round open, checking for ever: nothing there compares a count with a bound and leads out"},
		{"a budget of something that need not grow", "instance.returns >= policy.most", "instance.repeats >= policy.most",
			"a run may go round open, checking for ever: nothing there compares a count with a bound and leads out"},
		{"a budget under a condition", "instance.returns >= policy.most", "instance.returns >= policy.most && instance.loop",
			"a run may go round open, checking for ever: nothing there compares a count with a bound and leads out"},
		{"a budget the wrong way round", "instance.returns >= policy.most", "instance.returns <= policy.most",
			"a run may go round open, checking for ever: nothing there compares a count with a bound and leads out"},
		{"a budget that leads on", "to: [done, dropped]", "to: [open, checking]",
			"a run may go round open, checking for ever"},
		{"a limit before the budget that leads on", "limits:\n", "limits:\n  - {name: again, when: instance.loop, to: [open, checking]}\n",
			"a run may go round open, checking for ever"},
		{"results nobody decides", "      - {to: waiting}\n", "",
			"small.yaml:10:3: open leaves results undecided: its last decide rule must have no when"},
		{"a rule that is never tried", "      - {to: waiting}\n", "      - {to: waiting}\n      - {to: dropped}\n",
			"small.yaml:16:9: this rule of open is never tried: the one before it always holds"},
		{"a target the row lacks", "      - {to: waiting}\n", "      - {to: [waiting, done]}\n",
			"small.yaml:15:24: done is not in the row of open"},
		{"a reaction the row lacks", "abandoned: dropped", "abandoned: done",
			"small.yaml:26:18: done is not in the row of waiting"},
		{"a limit of no use", "to: [done, dropped]", "to: [done, dropped, lost]",
			"small.yaml:6:79: limit budget names lost, which no row has"},
		{"a gate that is a dead end", "instead: [open, checking]", "instead: [waiting]",
			"small.yaml:8:5: gate checked is a dead end in checking: no instead of it is in that row"},
		{"a gate that leads through itself", "instead: [open, checking]", "instead: [done, open]",
			"small.yaml:8:5: gate checked sends checking to done, which gate checked guards"},
		{"a gate around another", "instead: [open, checking]}\n", "instead: [open]}\n  - {name: later, to: open, require: instance.loop, instead: [done, checking, dropped]}\n",
			"gate later sends checking to done, which gate checked guards"},
		{"an owner nobody is", "owner: tester", "owner: testr",
			`small.yaml:16:3: unknown owner "testr"; did you mean "tester"?`},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := strings.Replace(proven, c.old, c.new, 1)
			if src == proven {
				t.Fatalf("%q is not in the definition", c.old)
			}
			if strings.Contains(c.new, "lost") && !strings.Contains(c.new, "lost:") {
				src += "  lost: {final: true}\n"
			}
			if got := listed(Verify(loaded(t, src), "dev", "tester")); !strings.Contains(got, c.want) {
				t.Errorf("problems\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestVerifyWantsWhatAnEntryLeadsToReachedFromTheInitialState(t *testing.T) {
	src := strings.NewReplacer("initial: open\n", "initial: open\nentries: [adopted]\n",
		"  done: {final: true}\n", "  adopted:\n    next: [lost, open]\n    on: {commented: open, abandoned: lost}\n  done: {final: true}\n  lost: {final: true}\n").Replace(proven)
	want := "small.yaml:32:3: lost cannot be reached from open"
	if got := listed(Verify(loaded(t, src))); got != want {
		t.Errorf("problems\n%s\nwant\n%s", got, want)
	}
}

func TestVerifyTakesABudgetInAnyOfItsForms(t *testing.T) {
	for _, when := range []string{
		"instance.returns > policy.most", "policy.most <= instance.returns", "policy.most < instance.iteration",
		"instance.iteration >= 30", "instance.loop || instance.returns >= policy.most",
	} {
		t.Run(when, func(t *testing.T) {
			src := strings.Replace(proven, "instance.returns >= policy.most", when, 1)
			if ps := Verify(loaded(t, src)); ps != nil {
				t.Error(ps)
			}
		})
	}
}
