package workflow

import (
	"errors"
	"strings"
	"sync"
	"testing"
)

func guardOf(t testing.TB, source string, policy map[string]any) Guard {
	t.Helper()
	c, err := newCompiler(policy, nil)
	if err != nil {
		t.Fatal(err)
	}
	var ps problems
	g := c.condition(Guard{Source: source, at: Position{"w.yaml", 7, 11}}, &ps)
	if err := ps.err(); err != nil {
		t.Fatal(err)
	}
	return g
}

func TestTheZeroGuardAlwaysHolds(t *testing.T) {
	if ok, err := (Guard{}).Eval(Facts{}); !ok || err != nil {
		t.Errorf("Eval = %v, %v; want true", ok, err)
	}
}

func TestGuardReadsEveryFact(t *testing.T) {
	facts := Facts{
		Result:   ResultFacts{"success", 0.9, []string{"i"}, []string{"q"}, "n", "sig", map[string]string{"k": "v"}},
		Signal:   SignalFacts{"commented", "alice", map[string]string{"permission": "write"}},
		Evidence: map[string]EvidenceFacts{"tests": {Commit: "c1", Failed: []string{"TestA"}}},
		Instance: InstanceFacts{"implementing", 4, 2, map[string]int64{"received": 1}, []string{"received"}, true, 1, "c1", 3, 2, map[string]int64{"implementing": 2}, 1},
		Issue:    IssueFacts{"title", "body", []string{"bug"}, "bob"},
		Spend:    SpendFacts{10, 0.5, 1000},
	}
	for _, source := range []string{
		`result.status == 'success' && result.confidence_score == 0.9 && result.issues_found == ['i']`,
		`result.questions == ['q'] && result.next == 'n' && result.failure_signature == 'sig' && result.data['k'] == 'v'`,
		`signal.name == 'commented' && signal.actor == 'alice' && signal.data['permission'] == 'write'`,
		`!evidence['tests'].ok && evidence['tests'].commit == 'c1' && 'TestA' in evidence['tests'].failed`,
		`instance.state == 'implementing' && instance.iteration == 4 && instance.returns == 2 && instance.visits['received'] == 1`,
		`instance.previous_states[0] == 'received' && instance.loop && instance.repeats == 1`,
		`instance.head == 'c1' && instance.open_questions == 3`,
		`issue.title == 'title' && issue.body == 'body' && 'bug' in issue.labels && issue.author == 'bob'`,
		`spend.tokens == 10 && spend.usd == 0.5 && spend.wall_ms == 1000`,
		`policy.name == 'x' && policy.on && policy.most == 3 && policy.least == 0.5`,
	} {
		t.Run(source, func(t *testing.T) {
			g := guardOf(t, source, map[string]any{"name": "x", "on": true, "most": int64(3), "least": 0.5})
			if ok, err := g.Eval(facts); !ok || err != nil {
				t.Errorf("Eval = %v, %v; want true", ok, err)
			}
		})
	}
}

func TestAGuardThatCannotBeEvaluatedIsAnErrorAndNeverFalse(t *testing.T) {
	for name, source := range map[string]string{
		"a missing map key":  `evidence['tests'].ok`,
		"too costly a guard": `[1,2,3,4,5,6,7,8,9,10].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, [1,2,3,4,5,6,7,8,9,10].all(c, [1,2,3,4,5,6,7,8,9,10].all(d, [1,2,3,4,5,6,7,8,9,10].all(e, a + b + c + d + e < 100 + instance.returns)))))`,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := guardOf(t, source, nil).Eval(Facts{})
			if !errors.Is(err, ErrGuard) {
				t.Fatalf("error %v, want ErrGuard", err)
			}
			for _, part := range []string{"w.yaml:7:11", source} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %q does not say %q", err, part)
				}
			}
		})
	}
}

func TestAGuardMayBeEvaluatedConcurrently(t *testing.T) {
	g := guardOf(t, `instance.returns >= policy.most`, map[string]any{"most": int64(50)})
	var wg sync.WaitGroup
	for n := range int64(100) {
		wg.Go(func() {
			ok, err := g.Eval(Facts{Instance: InstanceFacts{Returns: n}})
			if err != nil || ok != (n >= 50) {
				t.Errorf("at %d: %v, %v", n, ok, err)
			}
		})
	}
	wg.Wait()
}

func BenchmarkGuard(b *testing.B) {
	facts := Facts{
		Result:   ResultFacts{Status: "success", ConfidenceScore: 0.95},
		Evidence: map[string]EvidenceFacts{"tests": {OK: true, Commit: "c1"}},
		Instance: InstanceFacts{Returns: 3, Head: "c1"},
	}
	policy := map[string]any{"most": int64(10), "least": 0.9, "require": true}
	for name, source := range map[string]string{
		"status":     `result.status == 'success'`,
		"budget":     `instance.returns >= policy.most`,
		"confidence": `result.confidence_score > policy.least && size(result.issues_found) == 0`,
		"evidence":   `!policy.require || ('tests' in evidence && evidence['tests'].ok && evidence['tests'].commit == instance.head)`,
	} {
		g := guardOf(b, source, policy)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := g.Eval(facts); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkLoad(b *testing.B) {
	src, err := builtin.ReadFile("builtin/issue.yaml")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := Load("issue.yaml", src); err != nil {
			b.Fatal(err)
		}
	}
}

func TestADefinitionSaysWhatItsGuardsRead(t *testing.T) {
	const lifecycle = "workflow: w\nversion: 1\ninitial: a\nstates:\n  a: {owner: r, next: [b], decide: [{when: \"GUARD\", to: b}, {to: b}]}\n  b: {final: true}\n"
	all := map[string]string{
		"evidence": "'tests' in evidence", "failures_in": "'a' in instance.failures_in",
		"previous_states": "'a' in instance.previous_states", "visits": "instance.visits['a'] > 1",
	}
	all[""] = "result.status == 'success'"
	for read, guard := range all {
		d, err := Load("w.yaml", []byte(strings.Replace(lifecycle, "GUARD", guard, 1)))
		if err != nil {
			t.Fatal(err)
		}
		for fact := range all {
			if got := d.Reads(fact); got != (fact == read && fact != "") {
				t.Errorf("%s: reads %q: %v", guard, fact, got)
			}
		}
	}
}
