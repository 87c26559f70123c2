package workflow

import (
	"strings"
	"testing"
)

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
			"small.yaml:41:22: pushed has no timeout: nothing ever tells it timeout_alert"},
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
