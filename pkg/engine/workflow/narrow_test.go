package workflow

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestARepositoryOnlyNarrowsPolicy(t *testing.T) {
	issue, err := Builtin("issue")
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		policy, value string
		want          any    // what is in force then
		refused       string // or why it is refused
	}{
		"fewer iterations":             {"max_iterations", "3", int64(3), ""},
		"more iterations":              {"max_iterations", "30", int64(10), ""},
		"no iterations":                {"max_iterations", "0", nil, "above 0"},
		"more confidence":              {"confidence_threshold", "0.95", 0.95, ""},
		"less confidence":              {"confidence_threshold", "0.1", 0.85, ""},
		"without tests":                {"require_tests", "false", true, ""},
		"a budget where there is none": {"budget_usd", "5", 5.0, ""},
		"a budget below zero":          {"budget_usd", "-5", 0.0, ""},
		"tests that must be red":       {"red_first", "always", "always", ""},
		"tests that need not":          {"red_first", "never", "written", ""},
		"tests by who writes code":     {"test_changes", "allow", "aside", ""},
		"no learnings":                 {"learnings", "none", "none", ""},
		"more learnings":               {"learnings", "auto", "confirmed", ""},
		"an unknown way":               {"test_changes", "perhaps", nil, "want allow or aside or refuse"},
		"a value of another type":      {"max_iterations", "many", nil, `"many" is no`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := issue.Narrow(map[string]string{test.policy: test.value})
			switch {
			case test.refused != "":
				if err == nil || !strings.Contains(err.Error(), test.refused) {
					t.Errorf("it ended with %v, want %q", err, test.refused)
				}
			case err != nil:
				t.Error(err)
			case got.Policy[test.policy] != test.want:
				t.Errorf("%v is in force, want %v", got.Policy[test.policy], test.want)
			case (got.Hash == issue.Hash) != (got.Policy[test.policy] == issue.Policy[test.policy]):
				t.Error("the hash does not say whether something changed")
			}
		})
	}
}

// A repository's configuration is for all lifecycles of an issue: one after the other.
func TestAPolicyThatADefinitionHasNotIsLeftOut(t *testing.T) {
	story, err := Builtin("story")
	if err != nil {
		t.Fatal(err)
	}
	got, err := story.Narrow(map[string]string{"max_iterations": "3", "approvals": "2", "budget_tokens": "1000"})
	if err != nil || got.Policy["approvals"] != int64(2) || got.Policy["budget_tokens"] != int64(1000) || got.Policy["max_iterations"] != nil {
		t.Errorf("%v, %v", got, err)
	}
	again, err := Load("stored", got.Source())
	if err != nil || again.Hash != got.Hash {
		t.Errorf("the narrowed definition is not read again: %v", err)
	}
}

func TestOfEachPolicyItIsDecidedWhichWayIsNarrower(t *testing.T) {
	all, err := Builtins()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	page := map[string]string{} // the row of the policies, by what is narrower
	for line := range strings.Lines(string(text)) {
		if cells := strings.Split(line, " | "); len(cells) == 2 {
			page[strings.TrimPrefix(cells[0], "| ")] = cells[1]
		}
	}
	documented := func(n direction) string {
		switch n.way {
		case lower:
			return "lower"
		case higher:
			return "higher"
		}
		return n.values[len(n.values)-1]
	}
	operators := []string{"check_every", "flake_runs", "follow_up_labels", "heed_elsewhere", "hold_label", "members", "merge_method", "watch_for"}
	for _, d := range all {
		for name, value := range d.Policy {
			n := narrowing(name)
			if (n.way == fixed) != slices.Contains(operators, name) {
				t.Errorf("%s: policy %s has no direction in narrowing", d.Name, name)
			}
			if n.way != fixed && n.way != budget && !strings.Contains(page[documented(n)], "`"+name+"`") {
				t.Errorf("docs/configuration.md does not say of %s that %s is narrower", name, documented(n))
			}
			if n.way == ranked && !slices.Contains(n.values, fmt.Sprint(value)) {
				t.Errorf("%s: %v is no value of %s in narrowing", d.Name, value, name)
			}
		}
	}
}

// Whatever the two say, what is in force is no wider than either.
func TestNarrowingIsOrderedAndIdempotent(t *testing.T) {
	d, err := Builtin("issue")
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(sortedKeys(d.Policy)).Draw(t, "policy")
		a, b := map[string]any{}, d.Policy[name]
		switch b.(type) {
		case int64:
			a[name] = rapid.Int64Range(1, 100).Draw(t, "value")
		case float64:
			a[name] = rapid.Float64Range(0.01, 2).Draw(t, "value")
		case bool:
			a[name] = rapid.Bool().Draw(t, "value")
		default:
			return
		}
		if narrowing(name).way == fixed {
			return
		}
		if narrower(name, a[name], b) && narrower(name, b, a[name]) {
			t.Fatalf("of %v and %v each is narrower", a[name], b)
		}
		got, err := d.Narrow(map[string]string{name: fmt.Sprint(a[name])})
		if err != nil {
			t.Fatal(err)
		}
		if narrower(name, b, got.Policy[name]) || narrower(name, a[name], got.Policy[name]) {
			t.Fatalf("%s: of %v and %v, %v is in force", name, b, a[name], got.Policy[name])
		}
	})
}
