package workflow

import (
	"strings"
	"testing"
)

func TestNoFailedAttemptOfABrainEndsARunOfABuiltin(t *testing.T) {
	for _, d := range builtins(t) {
		for _, w := range Warn(d) {
			t.Error(w)
		}
	}
}

func TestADefinitionInWhichOneFailedAttemptEndsARunIsWarnedOf(t *testing.T) {
	for _, c := range []struct{ name, rules, want string }{
		{"a default that ends it", "[{when: result.status == 'success', to: done}, {to: dropped}]",
			"one failed attempt of dev in open ends the run in dropped"},
		{"a rule of its own", "[{when: result.status == 'failure', to: dropped}, {to: done}]",
			"one failed attempt of dev in open ends the run in dropped"},
		{"evidence that is not there", "[{when: \"!('tests' in evidence)\", to: done}, {to: open}]", "ends the run in done"},
		{"people", "[{when: result.status == 'success', to: done}, {when: result.status == 'blocked', to: dropped}, {escalate: true}]", ""},
		{"another try", "[{when: result.status == 'success', to: done}, {to: open}]", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := loaded(t, "workflow: small\nversion: 1\ninitial: open\nlimits: [{name: tries, when: instance.returns > 3, to: dropped}]\n"+
				"states:\n  open: {owner: dev, next: [open, done, dropped], decide: "+c.rules+"}\n"+
				"  done: {final: true}\n  dropped: {final: true}\n")
			if p := Verify(d); p != nil {
				t.Fatal(p)
			}
			got := ""
			for _, w := range Warn(d) {
				got += w.Error()
			}
			if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
