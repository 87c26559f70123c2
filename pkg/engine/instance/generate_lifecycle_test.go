package instance_test

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// guards returns guards that together read every fact.
func guards() []string {
	return []string{
		"result.status == 'success'", "result.confidence_score > 0.8", "size(result.issues_found) == 0", "size(result.questions) > 0",
		"result.next == ''", "result.failure_signature == 'f1'", "'k' in result.data", "signal.name == 'go'", "signal.actor == issue.author",
		"'operator' in signal.data", "'bug' in issue.labels", "issue.title == 'bug'", "'tests' in evidence && evidence['tests'].ok",
		"'tests' in evidence && evidence['tests'].commit == instance.head",
		"'tests' in evidence && evidence.tests.verdict in ['pass', 'pending']",
		"'tests' in evidence && 'k' in evidence.tests.data", "instance.returns > policy.max", "instance.iteration > 3",
		"instance.visits[instance.state] > 1", "'s1' in instance.visits && instance.visits['s1'] > 1", "size(instance.previous_states) > 2",
		"'s0' in instance.previous_states", "instance.state == 's1'", "instance.loop", "instance.repeats > 0", "instance.open_questions == 0",
		"instance.head == 'h1'", "spend.usd > 1.0", "spend.tokens > 100", "spend.wall_ms > 1000", "instance.failures > 1",
		"'s0' in instance.failures_in && instance.failures_in['s0'] > 0", "instance.waiting_on > 0", "vars.n > 0", "vars.n == 2", "vars.b",
		"vars.s == 'x'", "!vars.b",
		"'well' in signal.data && signal.data['well'] == 'true'",
	}
}

// failing returns guards that return an error on some instances.
func failing() []string {
	return []string{"result.data['k'] == 'v'", "evidence['lint'].ok", "instance.failures_in['s1'] > 0"}
}

// lifecycleWriter draws and writes a definition.
type lifecycleWriter struct {
	*rapid.T
	strings.Builder
	waits []string // states that nobody works in
}

func (s *lifecycleWriter) write(format string, args ...any) { fmt.Fprintf(s, format+"\n", args...) }

func (s *lifecycleWriter) one(label string, of ...string) string {
	return rapid.SampledFrom(of).Draw(s.T, label)
}

func (s *lifecycleWriter) list(label string, of ...string) string {
	return "[" + strings.Join(rapid.SliceOfNDistinct(rapid.SampledFrom(of), 1, 3, rapid.ID[string]).Draw(s.T, label), ", ") + "]"
}

func (s *lifecycleWriter) several(label string, most int, f func(i int)) {
	for i := range rapid.IntRange(0, most).Draw(s.T, label) {
		f(i)
	}
}

// guard draws a guard that never returns an error.
func (s *lifecycleWriter) guard(label string) string {
	return fmt.Sprintf("%q", s.one(label, guards()...))
}

func (s *lifecycleWriter) anyGuard(label string) string {
	return fmt.Sprintf("%q", s.one(label, append(guards(), failing()...)...))
}

// what draws the action of a rule: most of them move.
func (s *lifecycleWriter) what(permitted ...string) string {
	set := s.one("set", "", "", ", set: {n: 1}", ", set: {b: true, s: x}", ", set: {n: 0, b: false}")
	switch s.one("does", "to", "to", "to", "to", "stay", "escalate") {
	case "stay":
		return "stay: " + s.one("stay", "now", "signal", "45s", `"${policy.patience}"`) + set
	case "escalate":
		return "escalate: true, reason: help" + set
	}
	to := s.list("to", append(permitted, "$previous")...)
	resumes := ""
	if name := strings.Trim(to, "[]"); slices.Contains(s.waits, name) {
		resumes = s.one("resumes", "", ", resumes: true")
	}
	return "to: " + to + s.one("failure", "", "", ", failure: true") + s.one("fresh", "", "", ", fresh: true") + resumes + set
}

// lifecycle draws a small definition: two to five states of two roles, and an
// end that each of them and a budget lead to.
func lifecycle(t *rapid.T) string {
	s := &lifecycleWriter{T: t}
	names := []string{"s0", "s1", "s2", "s3", "s4"}[:rapid.IntRange(2, 5).Draw(t, "states")]
	anywhere := append(slices.Clone(names), "end")
	s.write("workflow: drawn\nversion: 1\ninitial: s0\nvars: {n: 0, b: false, s: \"\"}")
	s.write("policy: {max: %d, max_faults: %d, max_inquiries: %d, patience: 1h}",
		rapid.IntRange(0, 8).Draw(t, "max"), rapid.IntRange(0, 2).Draw(t, "max_faults"), rapid.IntRange(0, 6).Draw(t, "max_inquiries"))
	if w := rapid.IntRange(0, 4).Draw(t, "window"); w > 0 {
		s.write("loop: {window: %d, distinct: %d}", w, rapid.IntRange(1, w).Draw(t, "distinct"))
	}
	s.several("entries", 1, func(int) { s.write("entries: [s1]") })
	s.several("may", 1, func(int) {
		s.write("may: {%s: human, %s: human}", s.one("kept", "override", "cancel", "pause"), s.one("kept, too", "resume", "retry", "migrate"))
	})
	s.several("resolves", 1, func(int) { s.write("resolves: {go: %s, commented: signal.actor == 'ann'}", s.anyGuard("resolves")) })
	s.write("limits:\n  - {name: budget, when: instance.returns > policy.max, to: [end]}")
	s.several("limits", 1, func(i int) {
		s.write("  - {name: limit%d, when: %s, to: %s%s}", i, s.anyGuard("limit"), s.list("limit to", anywhere...),
			s.one("limit sets", "", ", set: {n: 2}"))
	})
	s.several("stops", 1, func(i int) {
		s.write("  - {name: stop%d, when: %s, escalate: true, set: {n: 1}}", i, s.one("stop", s.anyGuard("stopped"), "instance.failures >= 2"))
	})
	var gates []string
	s.several("gates", 2, func(i int) {
		gates = append(gates, fmt.Sprintf("{name: gate%d, to: %s, require: %s, instead: %s}", i, s.list("gated", anywhere...),
			s.anyGuard("require"), s.list("instead", anywhere...)))
	})
	s.write("gates: [%s]", strings.Join(gates, ", "))
	s.write("states:\n  end: {final: true, spawns: [{when: vars.b, workflow: story}]}")
	for _, name := range names {
		if s.one("kind of "+name, "work", "work", "wait") == "wait" {
			s.waits = append(s.waits, name)
		}
	}
	for _, name := range names {
		s.state(name, names, anywhere)
	}
	return s.String()
}

func (s *lifecycleWriter) state(name string, names, anywhere []string) {
	row := rapid.SliceOfNDistinct(rapid.SampledFrom(names), 1, 3, rapid.ID[string]).Draw(s.T, "next")
	permitted := append(slices.Clone(row), s.one("perhaps", anywhere...), "end")
	s.write("  %s:\n    next: [%s, end]", name, strings.Join(row, ", "))
	s.several("timeout", 1, func(int) { s.write("    timeout: 40s") })
	if !slices.Contains(s.waits, name) {
		s.write("    owner: %s\n    proposes: %s", s.one("owner", "r1", "r2"), s.one("proposes", "true", "false"))
		s.several("writes", 1, func(int) { s.write("    writes: [%s]", s.one("section", "doc1", "doc2")) })
		s.write("    decide:")
		s.several("rules", 2, func(int) { s.write("      - {when: %s, %s}", s.anyGuard("rule"), s.what(permitted...)) })
		s.write("      - {to: %s}", s.list("otherwise", permitted...))
	}
	s.perhaps("always", func(int) string {
		return fmt.Sprintf("{when: %s, %s}", s.guard("always"), s.one("holds", s.what(row...), "stay: signal"))
	})
	s.perhaps("asks", func(int) string {
		return fmt.Sprintf("{when: %s, to: %s, text: which}", s.guard("asks"), s.one("asked", "r1", "r2"))
	})
	s.perhaps("spawns", func(int) string {
		return fmt.Sprintf("{when: %s, workflow: %s}", s.guard("spawns"), s.one("spawned", "story", "task"))
	})
	s.write("    on:")
	for _, signal := range []string{"claimed", "ended", "timeout_warning", "timeout_alert", "timeout_escalation"} {
		s.several(signal, 1, func(int) { s.write("      %s: [{when: %s, %s}]", signal, s.guard(signal), s.what(permitted...)) })
	}
	s.write("      go:")
	s.several("reactions", 2, func(int) { s.write("        - {when: %s, %s}", s.anyGuard("reaction"), s.what(permitted...)) })
	s.write("        - {when: signal.name == 'go', to: %s}", s.list("on go", permitted...))
}

// perhaps writes a key of a state with at most one item.
func (s *lifecycleWriter) perhaps(key string, item func(int) string) {
	var items []string
	s.several(key, 1, func(i int) { items = append(items, item(i)) })
	if items != nil {
		s.write("    %s: [%s]", key, strings.Join(items, ", "))
	}
}
