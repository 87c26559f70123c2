package instance_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/workflow"
)

// dice choose one of n, from 0.
type dice func(label string, n int) int

func drawn(t *rapid.T) dice {
	return func(label string, n int) int { return rapid.IntRange(0, n-1).Draw(t, label) }
}

// read throws what the bytes say, a byte at a time, and then nothing but zeros.
func read(data *[]byte) dice {
	return func(_ string, n int) int {
		if len(*data) == 0 {
			return 0
		}
		b := (*data)[0]
		*data = (*data)[1:]
		return int(b) % n
	}
}

func one[T any](d dice, label string, of ...T) T { return of[d(label, len(of))] }

// some is none, one or two of the given.
func some[T any](d dice, label string, of ...T) []T {
	var some []T
	for range d("how many "+label, 3) {
		some = append(some, one(d, label, of...))
	}
	return some
}

// sensible is what somebody who knows the instance would do next.
func sensible(d dice, s *story) instance.Action {
	switch {
	case !s.in.Exists():
		return instance.Open{Issue: instance.Issue{Title: "bug", Author: "ann", Labels: some(d, "label", "bug", "docs")}, Base: one(d, "base", "", "h0")}
	case s.in.Paused && one(d, "wake", true, false):
		return instance.Resume{Reason: "go on"}
	case s.in.Paused && s.in.Kind == workflow.Work:
		return instance.Override{To: one(d, "to", s.def.StateNames()...), Reason: "meanwhile"}
	case s.in.Kind == workflow.Wait:
		row, _ := s.def.State(s.in.State)
		heard := []string{"commented"}
		for name := range row.On {
			heard = append(heard, name)
		}
		slices.Sort(heard) // the same draw is the same signal
		return instance.Signal{Name: one(d, "signal", heard...), Data: map[string]string{"permission": one(d, "permission", "write", "read")}}
	case s.in.Claim.Live(s.now):
		switch one(d, "interlude", "", "", "", "fault", "ask", "beat") {
		case "fault":
			return instance.Fail{Token: s.in.Claim.Token, Reason: "disk"}
		case "ask":
			return instance.Ask{Token: s.in.Claim.Token, Text: "how?"}
		case "beat":
			return instance.Heartbeat{Token: s.in.Claim.Token, Lease: 2 * lease}
		}
		return instance.Report{Token: s.in.Claim.Token, Result: soundResult(d, s)}
	}
	return instance.Take{Role: s.in.Owner, Agent: one(d, "agent", "a1", "a2"), Work: s.in.Work, Lease: lease}
}

// soundResult is one that can be taken.
func soundResult(d dice, s *story) instance.Result {
	head := one(d, "head", "", "h1", "h2")
	r := instance.Result{
		Status:          one(d, "status", instance.Success, instance.Failure, instance.Success, instance.Blocked),
		ConfidenceScore: one(d, "confidence", 0.95, 0.85, 0.81, 0.9, 0.91, 0.8, 1, 0),
		IssuesFound:     some(d, "issue", "slow", "ugly"), Questions: some(d, "question", "which?", "why?"), Head: head, Base: one(d, "base", "", "", "h0", "h9"),
		FailureSignature: one(d, "signature", "", "f1", "f2", "f3"),
		Next:             one(d, "next", "", "", "", "limbo", one(d, "proposal", s.def.StateNames()...)),
		Spend:            instance.Spend{TokensIn: one(d, "tokens", int64(0), 60), USD: one(d, "usd", 0, 0.75), WallMS: one(d, "wall", int64(0), 900)},
	}
	if one(d, "with data", true, false) {
		r.Data = map[string]string{"k": one(d, "data", "", "v")}
	}
	for _, n := range some(d, "answers", -1, 1, 2, 3) {
		r.Answers = append(r.Answers, instance.Answer{Question: n, Text: "so"})
	}
	for _, ok := range some(d, "tests", true, false) {
		r.Evidence = append(r.Evidence, instance.Evidence{Name: one(d, "check", "tests", "tests", "lint"), OK: ok, Commit: one(d, "tested", head, s.in.Head, "h1")})
	}
	return r
}

// anything is any command, by anybody, at its right place or not.
func anything(d dice, s *story) instance.Action {
	token := one(d, "token", s.in.Tokens, s.in.Tokens, s.in.Tokens, s.in.Tokens-1, s.in.Tokens+1, 0)
	held := one(d, "lease", lease, time.Second, 0, -time.Second)
	text := one(d, "text", "so", "so", "")
	switch one(d, "action", "take", "heartbeat", "fail", "ask", "charge", "pause", "release", "signal", "override", "report", "reply", "retry", "resume", "remark", "cancel", "open", "nothing") {
	case "open":
		return instance.Open{Issue: instance.Issue{Title: text}}
	case "take":
		return instance.Take{
			Role: one(d, "role", append(s.def.Roles(), s.in.Owner, s.in.Owner, "", "stranger")...), Agent: one(d, "agent", "a1", "a2", ""),
			Work: one(d, "work", s.in.Work, s.in.Work, s.in.Work-1, s.in.Seq, 0), Lease: held,
		}
	case "heartbeat":
		return instance.Heartbeat{Token: token, Lease: held}
	case "report":
		r := soundResult(d, s)
		switch one(d, "flaw", "none", "none", "status", "confidence", "question", "cost") {
		case "status":
			r.Status = one(d, "bad status", "", instance.Status("done"))
		case "confidence":
			r.ConfidenceScore = one(d, "bad confidence", -0.1, 1.1, math.NaN(), math.Inf(1))
		case "question":
			r.Questions = append(r.Questions, "")
		case "cost":
			r.Spend.USD = one(d, "bad cost", -1, math.NaN(), math.Inf(1))
		}
		return instance.Report{Token: token, Result: r}
	case "release":
		return instance.Release{Token: token, Reason: text}
	case "fail":
		return instance.Fail{Token: token, Reason: text}
	case "signal":
		return instance.Signal{Name: one(d, "signal", "commented", "blocked", "abandoned", "go", ""), Data: map[string]string{one(d, "key", "body", "operator"): "true"}}
	case "ask":
		return instance.Ask{Token: token, Text: text}
	case "reply":
		return instance.Reply{Number: d("number", 7) - 1, Text: text}
	case "remark":
		return instance.Remark{Kind: "comment", Text: text}
	case "charge":
		return instance.Charge{Token: token, Spend: instance.Spend{USD: one(d, "usd", 0.5, 0, -1, math.NaN()), TokensOut: one(d, "tokens", int64(70), -1)}}
	case "override":
		return instance.Override{To: one(d, "to", append(s.def.StateNames(), "", "limbo")...), Reason: text}
	case "pause":
		return instance.Pause{Reason: text}
	case "resume":
		return instance.Resume{Reason: text}
	case "cancel":
		return instance.Cancel{Reason: text}
	case "retry":
		return instance.Retry{Reason: text}
	}
	return nil
}

// guards reads every fact there is; some of them fail on some instances.
func guards() []string {
	return []string{
		"result.status == 'success'", "result.confidence_score > 0.8", "size(result.issues_found) == 0", "size(result.questions) > 0",
		"result.next == ''", "result.failure_signature == 'f1'", "'k' in result.data", "result.data['k'] == 'v'",
		"signal.name == 'go'", "signal.actor == issue.author", "'operator' in signal.data", "'bug' in issue.labels", "issue.title == 'bug'",
		"'tests' in evidence && evidence['tests'].ok", "'tests' in evidence && evidence['tests'].commit == instance.head", "evidence['lint'].ok",
		"instance.returns > policy.max", "instance.iteration > 3", "instance.visits[instance.state] > 1", "'s1' in instance.visits && instance.visits['s1'] > 1",
		"size(instance.previous_states) > 2", "'s0' in instance.previous_states", "instance.state == 's1'", "instance.loop", "instance.repeats > 0",
		"instance.open_questions == 0", "instance.head == 'h1'", "spend.usd > 1.0", "spend.tokens > 100", "spend.wall_ms > 1000",
	}
}

// lifecycle draws a small definition: two to five states of two roles, and an
// end that each of them and a budget lead to.
func lifecycle(t *rapid.T) string {
	var text strings.Builder
	d := drawn(t)
	write := func(format string, args ...any) { fmt.Fprintf(&text, format+"\n", args...) }
	names := []string{"s0", "s1", "s2", "s3", "s4"}[:rapid.IntRange(2, 5).Draw(t, "states")]
	anywhere := append(slices.Clone(names), "end")
	list := func(label string, of ...string) string {
		return "[" + strings.Join(rapid.SliceOfNDistinct(rapid.SampledFrom(of), 1, 3, rapid.ID[string]).Draw(t, label), ", ") + "]"
	}
	guard := func(label string) string { return fmt.Sprintf("%q", rapid.SampledFrom(guards()).Draw(t, label)) }
	several := func(label string, most int, f func(i int)) {
		for i := range rapid.IntRange(0, most).Draw(t, label) {
			f(i)
		}
	}

	write("workflow: drawn\nversion: 1\ninitial: s0")
	write("policy: {max: %d, max_faults: %d}", rapid.IntRange(0, 8).Draw(t, "max"), rapid.IntRange(0, 2).Draw(t, "max_faults"))
	if w := rapid.IntRange(0, 4).Draw(t, "window"); w > 0 {
		write("loop: {window: %d, distinct: %d}", w, rapid.IntRange(1, w).Draw(t, "distinct"))
	}
	write("limits:\n  - {name: budget, when: instance.returns > policy.max, to: [end]}")
	several("limits", 1, func(i int) {
		write("  - {name: limit%d, when: %s, to: %s}", i, guard("limit"), list("limit to", anywhere...))
	})
	var gates []string
	several("gates", 2, func(i int) {
		gates = append(gates, fmt.Sprintf("{name: gate%d, to: %s, require: %s, instead: %s}", i, list("gated", anywhere...), guard("require"), list("instead", anywhere...)))
	})
	write("gates: [%s]", strings.Join(gates, ", "))
	write("states:\n  end: {final: true}")
	for _, name := range names {
		write("  %s:", name)
		row := rapid.SliceOfNDistinct(rapid.SampledFrom(names), 1, 3, rapid.ID[string]).Draw(t, "next")
		permitted := append(slices.Clone(row), one(d, "perhaps", anywhere...), "end")
		write("    next: [%s, end]", strings.Join(row, ", "))
		if one(d, "kind", "work", "work", "wait") == "work" {
			write("    owner: %s\n    proposes: %v\n    decide:", one(d, "owner", "r1", "r2"), one(d, "proposes", true, false))
			several("rules", 2, func(int) { write("      - {when: %s, to: %s}", guard("rule"), list("rule to", permitted...)) })
			write("      - {to: %s}", list("otherwise", permitted...))
		}
		write("    on:\n      go:")
		several("reactions", 2, func(int) { write("        - {when: %s, to: %s}", guard("reaction"), list("reaction to", permitted...)) })
		write("        - {when: signal.name == 'go', to: %s}", list("on go", permitted...))
	}
	return text.String()
}
