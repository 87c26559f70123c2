package workflow

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Narrow returns the definition with values of policy that a repository asks for, and so
// with another hash. Of each value and the definition's own the narrower is taken: the one
// that does less, spends less or asks for more. So none widens what the definition permits.
// Values of policies that the definition has not are left out, but for budgets, which every
// definition may have. A value that Narrows refuses is a Problem.
func (d *Definition) Narrow(values map[string]string) (*Definition, error) {
	changed := map[string]any{}
	var ps problems
	for _, name := range sortedKeys(values) {
		old, ok := d.Policy[name]
		if !ok && !isBudget(name) {
			continue
		}
		if err := d.Narrows(name, values[name]); err != nil {
			ps.add(Position{File: d.Name}, "%v", err)
			continue
		}
		if !ok {
			old = budgetDefault(name)
		}
		if value, _ := convert(values[name], old); narrower(name, value, old) {
			changed[name] = value
		}
	}
	switch {
	case len(ps) > 0:
		return nil, ps.err()
	case len(changed) == 0:
		return d, nil
	}
	c := d.clone()
	if c.Policy = maps.Clone(d.Policy); c.Policy == nil {
		c.Policy = map[string]any{}
	}
	maps.Copy(c.Policy, changed)
	return finish(c, nil)
}

// Narrows returns an error if a repository cannot set the policy at all, or not to a value
// like this.
func (d *Definition) Narrows(name, value string) error {
	old, ok := d.Policy[name]
	if !ok {
		old = budgetDefault(name)
	}
	if old == nil {
		return fmt.Errorf("%s has no policy %q", d.Name, name)
	}
	got, ok := convert(value, old)
	if !ok {
		return fmt.Errorf("policy %s: %q is no %s", name, value, kindOf(old))
	}
	switch n := narrowing(name); {
	case n.way == fixed:
		return fmt.Errorf("policy %s: only the operator sets it", name)
	case n.way == ranked && !slices.Contains(n.values, fmt.Sprint(got)):
		return fmt.Errorf("policy %s: want %s", name, strings.Join(n.values, " or "))
	case n.way == lower && number(got) <= 0:
		return fmt.Errorf("policy %s: want a number above 0", name)
	}
	return nil
}

// way decides which of two values of a policy is the narrower.
type way int

const (
	fixed way = iota // none is: a repository cannot set it
	lower
	budget // the lower one; 0 is no limit
	higher
	ranked // the later one of a list
)

// direction is the way of a policy, and the list of its values.
type direction struct {
	way    way
	values []string
}

// narrowing returns which values of a policy are narrower. A policy that is not named here
// is the operator's alone.
func narrowing(name string) direction {
	switch name {
	case "max_iterations", "max_attempts", "max_inquiries", "max_faults", "max_tries", "max_rounds", "failure_limit", "cto_attempts",
		"warn_at", "alert_at", "escalate_at":
		return direction{way: lower}
	case budgetUSD, budgetTokens:
		return direction{way: budget}
	case "confidence_threshold", "test_above", "submit_above", "approvals":
		return direction{way: higher}
	case "require_tests", "triage", "check_duplicates":
		return direction{ranked, []string{"false", "true"}}
	case "auto_merge", "mend_checks", "allow_no_checks", "hand_over", "resolve_threads", "watch_merge", "revert":
		return direction{ranked, []string{"true", "false"}}
	case "draft_until":
		return direction{ranked, []string{"checks", "merge"}}
	case "red_first":
		return direction{ranked, []string{"never", "written", "always"}}
	case "learnings":
		return direction{ranked, []string{"auto", "confirmed", "none"}}
	case "test_changes":
		return direction{ranked, []string{"allow", "aside", "refuse"}}
	case "unproven", "documents":
		return direction{ranked, []string{"allow", "draft", "ask", "refuse"}}
	case "refused":
		return direction{ranked, []string{"turn", "end"}}
	}
	return direction{}
}

// narrower reports whether a value is narrower than another one of the same type.
func narrower(name string, value, than any) bool {
	switch n := narrowing(name); n.way {
	case lower:
		return number(value) < number(than)
	case budget:
		return number(value) > 0 && (number(than) <= 0 || number(value) < number(than))
	case higher:
		return number(value) > number(than)
	case ranked:
		return slices.Index(n.values, fmt.Sprint(value)) > slices.Index(n.values, fmt.Sprint(than))
	}
	return false
}

// The policies that say what an instance may cost.
const budgetUSD, budgetTokens = "budget_usd", "budget_tokens"

func isBudget(name string) bool { return name == budgetUSD || name == budgetTokens }

// budgetDefault returns the value of a budget that a definition does not have: no limit.
func budgetDefault(name string) any {
	switch name {
	case budgetUSD:
		return 0.0
	case budgetTokens:
		return int64(0)
	}
	return nil
}

func number(v any) float64 {
	f, err := strconv.ParseFloat(fmt.Sprint(v), 64)
	if err != nil {
		return 0
	}
	return f
}
