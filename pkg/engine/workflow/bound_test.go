package workflow

import (
	"strings"
	"testing"
)

// ring goes open → checking → open for as long as checking fails, and from asking
// back on people's word; what is appended to it bounds that or does not.
const ring = `workflow: ring
version: 1
initial: open
policy: {most: 3, wait: 10m}
vars: {asked: false}
states:
  open:
    owner: dev
    timeout: 1h
    proposes: false
    next: [open, checking, asking, dropped]
    decide:
      - {when: result.status == 'success', to: checking}
      - {when: result.status == 'blocked', to: asking}
      - {to: dropped}
  checking:
    owner: tester
    timeout: 1h
    proposes: false
    next: [open, checking, done]
    decide:
      - {when: result.status == 'success', to: done}
      - {to: open, failure: true}
  asking:
    tell: true
    next: [open, dropped]
    on: {commented: open, abandoned: dropped}
  done: {final: true}
  dropped: {final: true}
`

func limited(limit string) []string {
	return []string{"states:\n", "limits:\n  - {name: limit, " + limit + "}\nstates:\n"}
}

func TestVerifyTakesAnArgumentThatEveryRunEnds(t *testing.T) {
	always := func(rules string) []string {
		return []string{"  checking:\n", "  checking:\n    always: [" + rules + "]\n"}
	}
	for _, c := range []struct {
		name   string
		change []string
		want   string // in what Verify says; empty: proven
	}{
		{"none", nil, "a run may go round open, checking for ever"},
		{"returns that end it", limited("when: instance.returns > policy.most, to: [dropped, done, asking]"), ""},
		{"returns that people are asked about", limited("when: instance.returns > policy.most, escalate: true"), ""},
		{"iterations", limited("when: instance.iteration > 30, to: [dropped, done, asking]"), ""},
		{"repeats, which need not grow", limited("when: instance.repeats > 3, escalate: true"), "round open, checking"},
		{"failures that lead to a state that leads back", limited("when: instance.failures >= policy.most, to: checking"), "round open, checking"},
		{"failures that lead to people", limited("when: instance.failures >= policy.most, to: [done, asking]"), ""},
		{"failures that people are asked about", limited("when: instance.failures >= policy.most, escalate: true"), ""},
		{"failures that nobody counts", append(limited("when: instance.failures >= policy.most, escalate: true"), ", failure: true}", "}"), "round open, checking"},
		{"failures that are counted again each time", append(limited("when: instance.failures >= policy.most, escalate: true"),
			"to: checking}", "to: checking, fresh: true}"), "round open, checking"},
		{"failures, and a proposal that is none", append(limited("when: instance.failures >= policy.most, escalate: true"),
			"    proposes: false\n    next: [open, checking, done]", "    next: [open, checking, done]"), "round open, checking"},
		{"visits that end it", always("{when: \"instance.visits['checking'] > policy.most\", to: done}"), ""},
		{"visits that people are asked about", always("{when: instance.visits.checking > policy.most, escalate: true}"), ""},
		{"visits, after a rule that goes on", always("{when: vars.asked, to: open}, {when: \"instance.visits['checking'] > policy.most\", to: done}"), "round open, checking"},
		{"visits, after a rule that stays for a time", always("{when: vars.asked, stay: 1h}, {when: \"instance.visits['checking'] > policy.most\", to: done}"), "round open, checking"},
		{"visits, after a rule that stays until a signal", always("{when: vars.asked, stay: signal}, {when: \"instance.visits['checking'] > policy.most\", to: done}"), ""},
		{"visits of another state", always("{when: \"'open' in instance.visits && instance.visits['open'] > policy.most\", to: done}"), "round open, checking"},
		{"visits under a condition", always("{when: \"vars.asked && instance.visits['checking'] > policy.most\", to: done}"), "round open, checking"},
		{"visits asked of a state that is claimed into", append(always("{when: \"instance.visits['checking'] > policy.most\", to: done}"),
			"owner: tester", "owner: dev", "    decide:\n      - {when: result.status == 'success', to: checking}", "    on: {claimed: checking}\n    decide:"), "round open, checking"},
		{"visits, in a limit", limited("when: \"'checking' in instance.visits && instance.visits['checking'] > policy.most\", to: done"), ""},
		{"visits, in a limit that asks for another first", limited("when: \"'open' in instance.visits && instance.visits['checking'] > policy.most\", to: done"), "round open, checking"},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := mustReplace(t, ring, c.change...)
			if got := listed(Verify(loaded(t, src))); c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("problems\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// helped calls helping after too many failures of checking, which helping has
// counted again before it leads back.
const helped = `workflow: helped
version: 1
initial: open
policy: {most: 3, helps: 2}
limits:
  - {name: most, when: instance.failures >= policy.most, to: helping}
states:
  open:
    owner: dev
    timeout: 1h
    next: [checking]
    decide: [{to: checking}]
  checking:
    owner: tester
    timeout: 1h
    proposes: false
    next: [open, helping, done]
    decide:
      - {when: result.status == 'success', to: done}
      - {to: open, failure: true}
  helping:
    owner: lead
    timeout: 1h
    next: [open, checking, asking]
    always:
      - {when: "instance.visits['helping'] > policy.helps", to: asking}
    decide: [{to: $previous, fresh: true}]
  asking:
    next: [open]
    on: {commented: [{to: open, fresh: true}]}
  done: {final: true}
`

func TestVerifyTakesOneBoundAfterAnother(t *testing.T) {
	for _, c := range []struct {
		name   string
		change []string
		want   string
	}{
		{"help that is bounded", nil, ""},
		{"help that is not", []string{"instance.visits['helping'] > policy.helps", "vars.x", "states:\n", "vars: {x: false}\nstates:\n"},
			"small.yaml:9:3: a run may go round open, checking, helping for ever"},
		{"help that need not come", []string{"instance.failures >= policy.most", "instance.repeats >= policy.most"},
			"small.yaml:8:3: a run may go round open, checking for ever"},
		{"people who are not asked: a deadline leads back", []string{"    on: {commented: ", "    timeout: 1h\n    on: {timeout_alert: "},
			"small.yaml:8:3: a run may go round open, checking, helping, asking for ever"},
		{"a gate back from a result, a failure", []string{"states:\n", "gates:\n  - {name: g, to: done, require: instance.loop, instead: open}\nstates:\n"}, ""},
		{"a gate back from what nobody did, which is none", []string{"states:\n", "gates:\n  - {name: g, to: done, require: instance.loop, instead: open}\nstates:\n",
			"  checking:\n", "  checking:\n    always: [{when: instance.loop, to: done}]\n"},
			"small.yaml:10:3: a run may go round open, checking for ever"},
		{"a previous state that leads nowhere", []string{"next: [open, checking, asking]", "next: [open, asking]"},
			"small.yaml:27:19: $previous may be checking, which is not in the row of helping"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := listed(Verify(loaded(t, mustReplace(t, helped, c.change...)))); c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("problems\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestVerifyFindsAlwaysRulesThatGoRound(t *testing.T) {
	src := mustReplace(t, ring, "  open:\n", "  open:\n    always: [{when: vars.asked, to: checking}]\n",
		"  checking:\n", "  checking:\n    always: [{when: vars.asked, to: open}]\n",
		"states:\n", "limits: [{name: l, when: instance.iteration > 9, escalate: true}]\nstates:\n")
	want := Problem{Position{"small.yaml", 8, 3}, "always rules lead round open, checking without anybody's doing", ""}
	if ps := Verify(loaded(t, src)); len(ps) != 1 || ps[0] != want {
		t.Errorf("problems %v, want %v", ps, want)
	}
}

// listed is a line a problem.
func listed(ps []Problem) string {
	var lines []string
	for _, p := range ps {
		lines = append(lines, p.Error())
	}
	return strings.Join(lines, "\n")
}

// mustReplace replaces the first of each pair by the second.
func mustReplace(t *testing.T, src string, pairs ...string) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		changed := strings.Replace(src, pairs[i], pairs[i+1], 1)
		if changed == src {
			t.Fatalf("%q is not in the definition", pairs[i])
		}
		src = changed
	}
	return src
}
