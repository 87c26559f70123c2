package workflow

import (
	"slices"
	"testing"
)

// decide is the engine's choice among a state's rules, in its simplest form.
func decide(t *testing.T, d *Definition, state string, f Facts) string {
	t.Helper()
	s, ok := d.State(state)
	if !ok {
		t.Fatalf("no state %s", state)
	}
	return firstThatHolds(t, s, s.Decide, f)
}

func firstThatHolds(t *testing.T, s State, rules []Rule, f Facts) string {
	t.Helper()
	for _, r := range rules {
		holds, err := r.When.Eval(f)
		if err != nil {
			t.Fatal(err)
		}
		if holds && r.Escalate {
			return "people"
		}
		if holds {
			to, _ := s.first(r.To)
			return to
		}
	}
	return ""
}

func result(status string, confidence float64, issues ...string) Facts {
	return Facts{Result: ResultFacts{Status: status, ConfidenceScore: confidence, IssuesFound: issues}}
}

func tested(ok bool, commit, head string) Facts {
	f := result("success", 1)
	f.Evidence = map[string]EvidenceFacts{"tests": {OK: ok, Commit: commit}}
	f.Instance.Head = head
	return f
}

func with(f Facts, change func(*Facts)) Facts {
	change(&f)
	return f
}

func TestIssueDecides(t *testing.T) {
	d := builtinNamed(t, "issue")
	worked := func(f *Facts) { f.Instance.Visits = map[string]int64{"implementing": 1} }
	asking := func(f *Facts) { f.Instance.OpenQuestions = 1 }
	blocked := func(f *Facts) { f.Result.Status = "blocked" }
	for _, c := range []struct {
		name, state string
		facts       Facts
		want        string
	}{
		{"a report taken up", "received", result("success", 1), "analyzing_requirements"},
		{"a report without a title", "received", result("failure", 1), "failed"},
		{"a report that could not be taken up", "received", with(result("failure", 1), func(f *Facts) { f.Issue.Title = "It fails" }), "people"},
		{"an analysis below the threshold", "analyzing_requirements", result("success", 0.8499), "requirements_unclear"},
		{"an analysis at the threshold", "analyzing_requirements", result("success", 0.85), "creating_tests"},
		{"an analysis that failed", "analyzing_requirements", result("failure", 0.99), "requirements_unclear"},
		{"questions asked", "requirements_unclear", result("success", 1), "waiting_for_requirements_clarification"},
		{"questions that cannot be asked now", "requirements_unclear", result("blocked", 1), "blocked"},
		{"questions that cannot be asked", "requirements_unclear", result("failure", 1), "people"},
		{"everything answered", "requirements_clarified", result("success", 1), "creating_tests"},
		{"something unanswered", "requirements_clarified", with(result("success", 1), asking), "analyzing_requirements"},
		{"answers that do not help", "requirements_clarified", result("failure", 1), "analyzing_requirements"},
		{"an approach set", "planning_approach", result("success", 1), "creating_tests"},
		{"tests created", "creating_tests", result("success", 0), "implementing"},
		{"tests that cannot be created", "creating_tests", result("failure", 1), "analyzing_requirements"},
		{"tests updated", "updating_tests", result("success", 0), "implementing"},
		{"a sure implementation", "implementing", result("success", 0.91), "running_tests"},
		{"an implementation at 0.9", "implementing", result("success", 0.9), "creating_pr"},
		{"a sure implementation with issues", "implementing", result("success", 0.95, "slow"), "creating_pr"},
		{"an implementation at 0.8", "implementing", result("success", 0.8), "fixing_issues"},
		{"an implementation that failed", "implementing", result("failure", 0.99), "fixing_issues"},
		{"a developer who cannot go on", "implementing", result("blocked", 0.99), "analyzing_requirements"},
		{"a fix", "fixing_issues", result("success", 0), "running_tests"},
		{"a fix that did not work", "fixing_issues", result("failure", 1), "implementing"},
		{"a new structure", "refactoring", result("success", 0), "running_tests"},
		{"a structure that did not work", "refactoring", result("failure", 1), "implementing"},
		{"tests that pass", "running_tests", tested(true, "c1", "c1"), "validating_solution"},
		{"tests that pass on an older commit", "running_tests", tested(true, "c1", "c2"), "people"},
		{"tests that fail", "running_tests", tested(false, "c1", "c1"), "fixing_issues"},
		{"tests that cannot be run", "running_tests", with(tested(false, "c1", "c1"), blocked), "people"},
		{"tests that nobody ran", "running_tests", result("success", 1), "people"},
		{"a valid solution", "validating_solution", result("success", 0), "creating_pr"},
		{"an invalid solution", "validating_solution", result("failure", 1), "fixing_issues"},
		{"feedback worked in", "addressing_feedback", result("success", 1), "running_tests"},
		{"feedback that cannot be worked in", "addressing_feedback", result("blocked", 1), "people"},
		{"a pull request", "creating_pr", result("success", 1), "completed"},
		{"a pull request that needs approval", "creating_pr", result("blocked", 1), "waiting_for_human_input"},
		{"a pull request that cannot be made", "creating_pr", result("failure", 1), "people"},
		{"a word on work that is there", "human_input_received", with(result("success", 1), worked), "addressing_feedback"},
		{"a word before there is work", "human_input_received", result("success", 1), "analyzing_requirements"},
		{"an obstacle people can be asked about", "blocked", result("success", 1), "waiting_for_human_input"},
		{"an obstacle beyond the agents", "blocked", result("blocked", 1), "requires_human_intervention"},
		{"an obstacle people could not be asked about", "blocked", result("failure", 1), "people"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := decide(t, d, c.state, c.facts); got != c.want {
				t.Errorf("%s → %s, want %s", c.state, got, c.want)
			}
		})
	}
}

func TestIssueHearsOnlyThoseWhoMayAnswer(t *testing.T) {
	d := builtinNamed(t, "issue")
	for _, c := range []struct {
		name, actor string
		data        map[string]string
		heard       bool
	}{
		{"the author", "reporter", nil, true},
		{"a person who may write", "dev", map[string]string{"permission": "write"}, true},
		{"a maintainer", "dev", map[string]string{"permission": "maintain"}, true},
		{"an administrator", "dev", map[string]string{"permission": "admin"}, true},
		{"an operator", "me", map[string]string{"operator": "true"}, true},
		{"a reader", "passer-by", map[string]string{"permission": "read"}, false},
		{"a stranger", "passer-by", nil, false},
		{"nobody", "", map[string]string{"operator": "false"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := Facts{Issue: IssueFacts{Author: "reporter"}, Signal: SignalFacts{"commented", c.actor, c.data}}
			for state, next := range map[string]string{
				"waiting_for_requirements_clarification": "requirements_clarified",
				"waiting_for_human_input":                "human_input_received",
			} {
				s, _ := d.State(state)
				want := ""
				if c.heard {
					want = next
				}
				if got := firstThatHolds(t, s, s.On["commented"], f); got != want {
					t.Errorf("%s → %q, want %q", state, got, want)
				}
			}
		})
	}
}

func TestIssueGatesPullRequestsOnTestsOfTheVeryCommit(t *testing.T) {
	d := builtinNamed(t, "issue")
	lax, err := d.WithPolicy(map[string]any{"require_tests": false})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		d     *Definition
		facts Facts
		want  bool
	}{
		{"passing tests", d, tested(true, "c1", "c1"), true},
		{"failing tests", d, tested(false, "c1", "c1"), false},
		{"tests of an older commit", d, tested(true, "c1", "c2"), false},
		{"no tests", d, Facts{}, false},
		{"no tests where the policy wants none", lax, Facts{}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			gate := c.d.Gates[slices.IndexFunc(c.d.Gates, func(g Gate) bool { return g.Name == "require_tests" })]
			if got, err := gate.Require.Eval(c.facts); got != c.want || err != nil {
				t.Errorf("%v, %v; want %v", got, err, c.want)
			}
		})
	}
}

func TestIssueLimits(t *testing.T) {
	d := builtinNamed(t, "issue")
	unclear := func(visits int64) InstanceFacts {
		return InstanceFacts{Visits: map[string]int64{"requirements_unclear": visits}}
	}
	for _, c := range []struct {
		name   string
		past   InstanceFacts
		want   string
		rounds int64
	}{
		{"a loop in which things change only warns", InstanceFacts{Loop: true}, "", 0},
		{"the same failure outside a loop", InstanceFacts{Repeats: 1}, "", 0},
		{"a loop with the same failure ends the run", InstanceFacts{Loop: true, Repeats: 1}, "no_progress", 0},
		{"ten returns", InstanceFacts{Returns: 10, Iteration: 40}, "", 0},
		{"the eleventh return ends the run", InstanceFacts{Returns: 11}, "max_iterations", 0},
		{"ten rounds, and the eleventh to come", unclear(11), "max_rounds", 10},
		{"remarks after one round, which ask nothing again", unclear(30), "", 1},
		{"remarks after nine rounds", unclear(30), "", 9},
		{"ten visits, where the PM counts no rounds", unclear(10), "", 0},
		{"eleven visits, where the PM counts no rounds", unclear(11), "max_rounds", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ""
			for _, l := range d.Limits {
				holds, err := l.When.Eval(Facts{Instance: c.past, Vars: map[string]any{"vars.rounds": c.rounds}})
				if err != nil {
					t.Fatal(err)
				}
				if holds {
					got = l.Name
					break
				}
			}
			if got != c.want {
				t.Errorf("limit %q, want %q", got, c.want)
			}
		})
	}
}

func TestIssueNavigatorReviewsBeforeItTests(t *testing.T) {
	d := builtinNamed(t, "issue-navigator")
	approved := with(result("success", 1), func(f *Facts) {
		f.Instance.Previous = []string{"reviewing_code", "reviewing_architecture", "waiting_for_human_input"}
		f.Instance.Visits = map[string]int64{"implementing": 1}
	})
	for _, c := range []struct {
		name, state string
		facts       Facts
		want        string
	}{
		{"a good implementation", "implementing", result("success", 0.81), "reviewing_code"},
		{"a fix", "fixing_issues", result("success", 0), "reviewing_code"},
		{"a new structure", "refactoring", result("success", 0), "reviewing_code"},
		{"feedback worked in", "addressing_feedback", result("success", 0), "reviewing_code"},
		{"an approving review", "reviewing_code", result("success", 1), "creating_pr"},
		{"a review with findings", "reviewing_code", result("success", 1, "leak"), "fixing_issues"},
		{"a review that lacks requirements", "reviewing_code", result("blocked", 1), "analyzing_requirements"},
		{"a change of architecture", "reviewing_architecture", result("blocked", 1), "waiting_for_human_input"},
		{"a design to change", "reviewing_architecture", result("failure", 1), "refactoring"},
		{"an integration with findings", "reviewing_integration", result("failure", 1), "fixing_issues"},
		{"an approved change of architecture", "human_input_received", approved, "implementing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := decide(t, d, c.state, c.facts); got != c.want {
				t.Errorf("%s → %s, want %s", c.state, got, c.want)
			}
		})
	}
}
