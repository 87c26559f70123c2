package workflow

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// rich is a sound definition of what small does without; tests break one line of it.
const rich = `workflow: rich
version: 1
initial: open
entries: [pushed]
policy: {most: 3, patience: 15m}
vars: {round: 0, phase: "none", sure: 0.5, asked: false}
order: ["'URGENT' in issue.labels ? 0 : 1", instance.iteration]
may: {override: [lead, human], cancel: human}
resolves: {commented: signal.actor != '', approved: true}
limits:
  - {name: stuck, when: instance.failures >= policy.most, to: [review, dropped]}
  - {name: long, when: instance.returns > policy.most, escalate: true, reason: "over ${policy.most}"}
states:
  open:
    owner: dev
    timeout: 15m
    writes: [triage, build_result]
    next: [open, pushed, review, dropped]
    always:
      - {when: instance.waiting_on > 0, stay: signal, reason: others come first}
      - {when: "instance.visits['open'] > policy.most", to: dropped, set: {phase: late}}
    asks: [{when: "!vars.asked", to: lead, text: "how, in ${policy.patience}?"}]
    decide:
      - {when: result.status == 'success', to: pushed, set: {round: 1, asked: true, sure: 1.5}}
      - {when: result.status == 'blocked', stay: "${policy.patience}"}
      - {to: open, failure: true}
  review:
    owner: lead
    timeout: 1h
    next: [open, pushed, dropped]
    decide:
      - {when: vars.round > 0, to: $previous, fresh: true}
      - {when: vars.sure > 0.6, stay: 1h}
      - {to: [$previous, dropped]}
  pushed:
    tell: true
    next: [open, dropped]
    always: [{when: "'merged' in evidence && evidence.merged.ok", to: dropped}]
    on:
      merged: dropped
      commented: [{stay: now}]
  dropped:
    final: true
    spawns: [{when: vars.phase == 'late', workflow: story, state: pushed, reason: again}]
`

func TestLoadReadsEverythingRich(t *testing.T) {
	d := loaded(t, rich)
	open, _ := d.State("open")
	review, _ := d.State("review")
	pushed, _ := d.State("pushed")
	dropped, _ := d.State("dropped")
	for name, c := range map[string]struct{ got, want any }{
		"vars":      {d.Vars, map[string]any{"round": int64(0), "phase": "none", "sure": 0.5, "asked": false}},
		"entries":   {d.Entries, []string{"pushed"}},
		"order":     {len(d.Order), 2},
		"may":       {d.May, map[string][]string{"override": {"lead", "human"}, "cancel": {"human"}}},
		"resolves":  {[]string{d.Resolves[0].Signal, d.Resolves[1].When.Source}, []string{"approved", "signal.actor != ''"}},
		"escalate":  {d.Limits[1].Escalate, true},
		"writes":    {open.Writes, []string{"triage", "build_result"}},
		"always":    {[]string{open.Always[0].Stay.Source, open.Always[1].Set["phase"]}, []string{"signal", "late"}},
		"asks":      {[]string{open.Asks[0].To, open.Asks[0].Text}, []string{"lead", "how, in ${policy.patience}?"}},
		"set":       {open.Decide[0].Set, map[string]string{"round": "1", "asked": "true", "sure": "1.5"}},
		"a policy":  {open.Decide[1].Stay.After, 15 * time.Minute},
		"previous":  {review.Decide[2].To, []string{Previous, "dropped"}},
		"fresh":     {review.Decide[0].ResetsFailures, true},
		"a time":    {review.Decide[1].Stay.After, time.Hour},
		"a signal":  {open.Always[0].Stay.After < 0, true},
		"now":       {pushed.On["commented"][0].Stay.After, time.Duration(0)},
		"tell":      {pushed.Tell, true},
		"spawns":    {[]string{dropped.Spawns[0].Workflow, dropped.Spawns[0].State}, []string{"story", "pushed"}},
		"citations": {pushed.Always[0].When.Cites(), []string{"merged"}},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestLoadSaysWhatIsWrongInARichDefinition(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"an unknown var", "vars.round > 0", "vars.ruond > 0", `rich.yaml:32:16: unknown var "ruond"; did you mean "round"?`},
		{"a var read as another type", "vars.round > 0", "vars.round > 'x'", `found no matching overload for '_>_' applied to '(int, string)'`},
		{"a var no guard can read", "round: 0", "round: 0, Round-2: 1", `rich.yaml:6:18: vars name "Round-2", want a small letter, then letters, digits and _`},
		{"a var that is no scalar", "round: 0", "round: [0]", `rich.yaml:6:15: want true, false, a number or a text`},
		{"an unknown entry", "entries: [pushed]", "entries: [push]", `rich.yaml:4:11: unknown state "push"`},
		{"an entry that is the initial state", "entries: [pushed]", "entries: [open]", `rich.yaml:4:11: an instance may be opened in open already`},
		{"an entry that is final", "entries: [pushed]", "entries: [dropped]", `rich.yaml:4:11: dropped is final: an instance opened in it would have ended`},
		{"an order that is no number", "instance.iteration]", "issue.title]", `rich.yaml:7:45: guard "issue.title" is of type string, want int`},
		{"an order that reads a result", "instance.iteration]", "size(result.status)]", `order "size(result.status)" reads result`},
		{"an unknown action", "override: [lead", "overide: [lead", `rich.yaml:8:7: unknown action "overide"; did you mean "override"?`},
		{"an unknown role that may", "[lead, human]", "[laed, human]", `rich.yaml:8:18: unknown role "laed"; did you mean "lead"?`},
		{"an action nobody may", "[lead, human]", "[]", `rich.yaml:8:7: nobody may override: want roles or human`},
		{"a role that may twice", "[lead, human]", "[lead, lead]", `rich.yaml:8:24: lead may override twice`},
		{"a resolving guard of an unknown fact", "commented: signal.actor != ''", "commented: signal.acter != ''", `undefined field 'acter'; did you mean "actor"?`},
		{"a resolving guard that is none", "approved: true", "approved: false", `rich.yaml:9:53: want a text, got boolean`},
		{"a rule that does two things", "{to: open, failure: true}", "{to: open, stay: now}", `rich.yaml:26:9: a rule with more than one of to, stay and escalate`},
		{"a rule that does nothing", "{to: open, failure: true}", "{reason: none}", `rich.yaml:26:9: a rule without to, stay or escalate`},
		{"a limit that stays", "escalate: true", "stay: now", `rich.yaml:12:62: limit "long" stays: a limit replaces a move, by to or escalate`},
		{"a failure that goes nowhere", "{to: open, failure: true}", "{escalate: true, failure: true}", `rich.yaml:26:9: fresh and failure are of a move: want to`},
		{"a stay that is none", "stay: 1h", "stay: later", `rich.yaml:33:39: stay "later", want now, signal, a duration like 15m, or ${policy.NAME}`},
		{"a stay of less than nothing", "stay: 1h", "stay: -1h", `rich.yaml:33:39: stay "-1h0m0s", want now`},
		{"a stay of an unknown policy", `"${policy.patience}"}`, `"${policy.patient}"}`, `rich.yaml:25:50: unknown policy "patient"; did you mean "patience"?`},
		{"a stay of a policy that is no time", `"${policy.patience}"}`, `"${policy.most}"}`, `rich.yaml:25:50: stay ${policy.most}: 3 is no duration like 15m`},
		{"a var that is not declared", "set: {phase: late}", "set: {phaze: late}", `rich.yaml:21:76: unknown var "phaze"; did you mean "phase"?`},
		{"a value of another type", "round: 1,", "round: one,", `rich.yaml:24:62: set round: "one" is no int`},
		{"a value written another way", "round: 1,", `round: "01",`, `set round: "01" is no int`},
		{"an unknown policy in a reason", "over ${policy.most}", "over ${policy.mots}", `rich.yaml:12:5: unknown policy "mots"; did you mean "most"?`},
		{"another thing in a reason", "over ${policy.most}", "over ${vars.round}", `rich.yaml:12:5: ${vars.round} in a text, want ${policy.NAME}`},
		{"an unknown policy in a question", "in ${policy.patience}", "in ${policy.time}", `rich.yaml:22:12: unknown policy "time"`},
		{"a question to nobody", "to: lead, text", "text", `rich.yaml:22:12: no to`},
		{"a question without text", `, text: "how, in ${policy.patience}?"`, "", `rich.yaml:22:12: a question without text`},
		{"a spawn of nothing", "workflow: story, ", "", `rich.yaml:44:14: no workflow`},
		{"a section twice", "[triage, build_result]", "[triage, triage]", `rich.yaml:17:22: open may write triage already`},
		{"sections nobody writes", "tell: true", "writes: triage", `rich.yaml:36:13: pushed has no owner to write triage`},
		{"a final state that moves", "spawns:", "always: [{to: open}]\n    spawns:", `rich.yaml:42:3: dropped is final`},
		{"a final state that asks", "spawns:", "asks: [{to: lead, text: x}]\n    spawns:", `rich.yaml:42:3: dropped is final`},
		{"a gate to the state before", "states:\n", "gates: [{name: g, to: $previous, require: vars.asked, instead: open}]\nstates:\n", `rich.yaml:13:23: unknown state "$previous"`},
		{"a misspelt previous", "to: $previous, fresh", "to: $prevoius, fresh", `unknown state "$prevoius"; did you mean "$previous"?`},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := strings.Replace(rich, c.old, c.new, 1)
			if src == rich {
				t.Fatalf("%q is not in the definition", c.old)
			}
			_, err := Load("rich.yaml", []byte(src))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error\n%v\nwant\n%s", err, c.want)
			}
		})
	}
}
