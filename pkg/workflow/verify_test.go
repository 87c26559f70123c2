package workflow

import (
	"slices"
	"strings"
	"testing"
)

func TestBuiltinsAreProven(t *testing.T) {
	for _, d := range builtins(t) {
		for _, p := range Verify(d, "pm", "analyst", "tester", "developer", "navigator") {
			t.Error(p)
		}
	}
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
			"small.yaml:22:3: waiting waits for nothing: no signal leads out of it"},
		{"a state without a way out", "[open, dropped]\n    on:\n      commented: open\n      abandoned: dropped\n", "[]\n",
			"small.yaml:22:3: waiting has no way out and is not final"},
		{"an owner on whom all depends", "next: [checking, waiting, dropped]", "next: [checking, waiting]",
			"small.yaml:10:3: open depends on dev alone: no budget of limits and no signal leads out of it"},
		{"no budget", "limits:\n  - {name: budget, when: instance.returns >= policy.most, to: [done, dropped]}\n", "",
			"a run may go round open, checking, waiting for ever"},
		{"a budget of something that need not grow", "instance.returns >= policy.most", "instance.repeats >= policy.most",
			"a run may go round open, checking, waiting for ever"},
		{"a budget under a condition", "instance.returns >= policy.most", "instance.returns >= policy.most && instance.loop",
			"a run may go round open, checking, waiting for ever"},
		{"a budget the wrong way round", "instance.returns >= policy.most", "instance.returns <= policy.most",
			"a run may go round open, checking, waiting for ever"},
		{"a budget that leads on", "to: [done, dropped]", "to: [waiting, done]",
			"a run may go round open, waiting for ever"},
		{"a limit before the budget that leads on", "limits:\n", "limits:\n  - {name: ask, when: instance.loop, to: waiting}\n",
			"open depends on dev alone: no budget of limits"},
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
			var all []string
			for _, p := range Verify(loaded(t, src), "dev", "tester") {
				all = append(all, p.Error())
			}
			if got := strings.Join(all, "\n"); !strings.Contains(got, c.want) {
				t.Errorf("problems\n%s\nwant\n%s", got, c.want)
			}
		})
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

// caught tries the definition after a change, as if its file had been written so.
// The change is caught if it does not load or Verify has something against it.
func caught(d *Definition, change func(*Definition)) bool {
	m := d.clone()
	change(m)
	m.derive()
	loaded, err := Load("mutant.yaml", m.Source())
	return err != nil || len(Verify(loaded, d.Roles()...)) > 0
}

func TestEveryBrokenBuiltinIsCaught(t *testing.T) {
	for _, d := range builtins(t) {
		mustCatch := func(name string, change func(*Definition)) {
			t.Helper()
			if !caught(d, change) {
				t.Errorf("%s: %s is not noticed", d.Name, name)
			}
		}
		for i, s := range d.States {
			mustCatch("losing state "+s.Name, func(m *Definition) { m.States = slices.Delete(m.States, i, i+1) })
			if s.Name != d.Initial {
				mustCatch("opening in "+s.Name, func(m *Definition) { m.Initial = s.Name })
			}
			if s.Kind != Work {
				continue
			}
			mustCatch("losing the owner of "+s.Name, func(m *Definition) { m.States[i].Owner, m.States[i].Kind = "", "" })
			mustCatch("an unknown owner of "+s.Name, func(m *Definition) { m.States[i].Owner = "nobody" })
			mustCatch("losing the default of "+s.Name, func(m *Definition) {
				m.States[i].Decide = m.States[i].Decide[:len(s.Decide)-1]
			})
		}
		for j, to := range d.Gates[0].Instead {
			mustCatch("the gate losing its way to "+to, func(m *Definition) {
				m.Gates[0].Instead = slices.Delete(slices.Clone(m.Gates[0].Instead), j, j+1)
			})
		}
		mustCatch("losing the budget", func(m *Definition) { m.Limits = m.Limits[:1] })
		mustCatch("losing the bound of the budget", func(m *Definition) { delete(m.Policy, "max_iterations") })
		mustCatch("a budget that nothing spends", func(m *Definition) { m.Limits[1].When.Source = "instance.repeats >= policy.max_iterations" })
	}
}

// A move that no rule names is only ever proposed: without it an owner has one
// choice less and the proof stands. Every other lost move is noticed. (That the
// table is the source's is the conformance test's to notice.)
func TestALostMoveIsCaughtUnlessOnlyAProposalTakesIt(t *testing.T) {
	for _, d := range builtins(t) {
		for i, s := range d.States {
			rules := slices.Clone(s.Decide)
			for _, reactions := range s.On {
				rules = append(rules, reactions...)
			}
			for j, move := range s.Next {
				named := slices.ContainsFunc(rules, func(r Rule) bool { return slices.Contains(r.To, move.To) })
				caught := caught(d, func(m *Definition) { m.States[i].Next = slices.Delete(slices.Clone(s.Next), j, j+1) })
				if !caught && (named || !s.Proposes) {
					t.Errorf("%s: losing %s → %s is not noticed", d.Name, s.Name, move.To)
				}
			}
		}
	}
}

// A wait keeps another signal, a lost gate or limit forbids less: harmless to
// the proof, and these are all there are.
func TestWhatMayBeLostWithoutHarmToTheProof(t *testing.T) {
	d := builtinNamed(t, "issue")
	var harmless []string
	for i, s := range d.States {
		for _, signal := range sortedKeys(s.On) {
			if !caught(d, func(m *Definition) { delete(m.States[i].On, signal) }) {
				harmless = append(harmless, s.Name+" on "+signal)
			}
		}
	}
	for i, l := range d.Limits {
		if !caught(d, func(m *Definition) { m.Limits = slices.Delete(m.Limits, i, i+1) }) {
			harmless = append(harmless, "limit "+l.Name)
		}
	}
	for i, g := range d.Gates {
		if !caught(d, func(m *Definition) { m.Gates = slices.Delete(m.Gates, i, i+1) }) {
			harmless = append(harmless, "gate "+g.Name)
		}
	}
	want := []string{
		"waiting_for_requirements_clarification on abandoned",
		"waiting_for_requirements_clarification on blocked",
		"waiting_for_human_input on abandoned",
		"waiting_for_human_input on blocked",
		"limit no_progress",
		"gate require_tests",
	}
	if !slices.Equal(harmless, want) {
		t.Errorf("harmless are %q, want %q", harmless, want)
	}
}
