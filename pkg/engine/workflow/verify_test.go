package workflow

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestBuiltinsAreProven(t *testing.T) {
	for _, d := range builtins(t) {
		for _, p := range Verify(d, services(t)...) {
			t.Error(p)
		}
	}
}

// services lists the roles that have a service in this repository.
func services(t *testing.T) []string {
	t.Helper()
	mains, err := filepath.Glob("../../../services/*/main.go")
	if err != nil || len(mains) == 0 {
		t.Fatalf("there are no services: %v", err)
	}
	return each(mains, func(main string) string { return filepath.Base(filepath.Dir(main)) })
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

func TestVerifySaysWhatIsWrongInARichDefinition(t *testing.T) {
	if ps := Verify(loaded(t, rich)); ps != nil {
		t.Fatalf("the sound definition has %v", ps)
	}
	for _, c := range []struct{ name, old, new, want string }{
		{"work without a deadline", "    timeout: 1h\n", "",
			"small.yaml:27:3: review has no timeout, and other work has one"},
		{"a question to nobody", "to: lead, text", "to: laed, text",
			`small.yaml:22:12: unknown role "laed"; did you mean "lead"?`},
		{"a claim that gives the work away", "    always:\n      - {when: instance.waiting_on", "    on: {claimed: review}\n    always:\n      - {when: instance.waiting_on",
			"small.yaml:19:19: dev claims open and would hold review, which is not its work"},
		{"a claim that does not move", "    always:\n      - {when: instance.waiting_on", "    on: {claimed: [{escalate: true}]}\n    always:\n      - {when: instance.waiting_on",
			"small.yaml:19:20: claiming moves: want to"},
		{"a claim where nobody works", "merged: dropped\n", "merged: dropped\n      claimed: open\n",
			"small.yaml:41:16: nobody claims pushed: it has no owner"},
		{"a deadline of a state without one", "merged: dropped\n", "merged: dropped\n      timeout_alert: dropped\n",
			"small.yaml:41:22: pushed has no timeout: it never gets timeout_alert"},
		{"a deadline there is not", "merged: dropped\n", "merged: dropped\n      timeout_alarm: dropped\n",
			`small.yaml:41:22: unknown deadline "timeout_alarm"; did you mean "timeout_alert"?`},
		{"a previous state of an instance that has none", "initial: open\nentries: [pushed]", "initial: review\nentries: [pushed]",
			"small.yaml:32:36: an instance opened in review has no previous state: name another after $previous"},
		{"work that never begins", "{when: instance.waiting_on > 0, stay: signal, reason: others come first}", "{to: pushed}",
			"small.yaml:20:9: dev never gets to work: this always rule has no when"},
		{"work that is given again at once", "stay: 1h", "stay: now",
			"small.yaml:33:39: review may be given to lead again for ever: no count grows by staying"},
		{"a wait that only wakes", "always: [{when: \"'merged' in evidence && evidence.merged.ok\", to: dropped}]\n    on:\n      merged: dropped\n", "on:\n",
			"small.yaml:35:3: pushed waits for nothing: no signal and no always rule leads out of it"},
		{"one that opens itself", "{when: vars.phase == 'late', workflow: story, state: pushed, reason: again}", "{workflow: rich}",
			"small.yaml:44:14: rich opens another of itself whenever it comes to dropped: want a when"},
		{"one that opens itself where it does not open", "workflow: story, state: pushed", "workflow: rich, state: reviewed",
			`small.yaml:44:14: unknown entry "reviewed"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := strings.Replace(rich, c.old, c.new, 1)
			if src == rich {
				t.Fatalf("%q is not in the definition", c.old)
			}
			if got := listed(Verify(loaded(t, src))); !strings.Contains(got, c.want) {
				t.Errorf("problems\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}
