package workflow

import (
	"os"
	"slices"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// sourceRow is a state as the issue lifecycle's source has it.
type sourceRow struct {
	Owner  string   `yaml:"owner"`
	Row    []string `yaml:"row"`
	Frozen []string `yaml:"frozen"`
}

type sourceTable struct {
	States map[string]sourceRow `yaml:"states"`
	Frozen map[string]sourceRow `yaml:"frozen"`
}

func issueSource(t *testing.T) (table sourceTable, order []string) {
	t.Helper()
	text, err := os.ReadFile("testdata/issue-source.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalWithOptions(text, &table, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	var ordered struct {
		States yaml.MapSlice `yaml:"states"`
	}
	if err := yaml.Unmarshal(text, &ordered); err != nil {
		t.Fatal(err)
	}
	for _, item := range ordered.States {
		order = append(order, item.Key.(string))
	}
	return table, order
}

func builtinNamed(t testing.TB, name string) *Definition {
	t.Helper()
	d, err := Builtin(name)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// ownStates lists the states that the lifecycle's source has, in file order.
func ownStates(d *Definition) []State {
	return slices.DeleteFunc(slices.Clone(d.States), func(s State) bool { return s.Added != "" })
}

func namesOf(states []State) []string { return each(states, func(s State) string { return s.Name }) }

// isAddition reports whether the definition has a move of a source's state that
// the source lacks. One into an added state is explained by that.
func (d *Definition) isAddition(t Transition) bool {
	to, _ := d.State(t.To)
	return t.Added != "" || to.Added != ""
}

// withoutAdditions is the definition's table as the source would have it.
func withoutAdditions(d *Definition) map[string]sourceRow {
	table := map[string]sourceRow{}
	for _, s := range ownStates(d) {
		row := sourceRow{Owner: s.Owner, Row: []string{}}
		for _, t := range s.Next {
			if !d.isAddition(t) {
				row.Row = append(row.Row, t.To)
			}
		}
		table[s.Name] = row
	}
	return table
}

// additions lists the marked moves between states that the source has.
func additions(d *Definition) []string {
	var list []string
	for _, s := range ownStates(d) {
		for _, t := range s.Next {
			if to, _ := d.State(t.To); t.Added != "" && to.Added == "" {
				list = append(list, s.Name+" → "+t.To)
			}
		}
	}
	return list
}

func TestIssueWithoutItsAdditionsIsItsSourcesTable(t *testing.T) {
	source, order := issueSource(t)
	d := builtinNamed(t, "issue")
	if len(order) != 21 {
		t.Errorf("the transcript has %d states, want the source's 21", len(order))
	}
	if diff := cmp.Diff(order, namesOf(ownStates(d))); diff != "" {
		t.Errorf("states (-source +definition):\n%s", diff)
	}
	if diff := cmp.Diff(source.States, withoutAdditions(d), cmpopts.IgnoreFields(sourceRow{}, "Frozen")); diff != "" {
		t.Errorf("table (-source +definition):\n%s", diff)
	}
	for name, row := range source.States {
		s, _ := d.State(name)
		if final := s.Kind == Final; final != (len(row.Row) == 0) {
			t.Errorf("%s is final: %v, with the source's row %v", name, final, row.Row)
		}
	}
}

func TestIssueAddsExactlyTheWaysInThatItsSourceLacksAndTheWayBackAfterARemark(t *testing.T) {
	want := []string{
		"analyzing_requirements → planning_approach",
		"requirements_clarified → waiting_for_requirements_clarification",
		"running_tests → validating_solution",
		"human_input_received → addressing_feedback",
		"human_input_received → waiting_for_human_input",
	}
	if diff := cmp.Diff(want, additions(builtinNamed(t, "issue"))); diff != "" {
		t.Error(diff)
	}
}

func TestIssueNavigatorWithoutItsAdditionsIsTheSourcesTableUnfrozen(t *testing.T) {
	source, _ := issueSource(t)
	want := source.Frozen
	for name, row := range source.States {
		row.Row = append(row.Row, row.Frozen...)
		row.Frozen = nil
		want[name] = row
	}
	if diff := cmp.Diff(want, withoutAdditions(builtinNamed(t, "issue-navigator"))); diff != "" {
		t.Errorf("table (-source +definition):\n%s", diff)
	}
}

func TestIssueNavigatorAddsExactlyItsWaysThroughTheReview(t *testing.T) {
	want := append(additions(builtinNamed(t, "issue")),
		"implementing → reviewing_code",
		"fixing_issues → reviewing_code",
		"refactoring → reviewing_code",
		"addressing_feedback → reviewing_code",
		"reviewing_code → running_tests",
		"reviewing_architecture → running_tests",
		"reviewing_architecture → waiting_for_human_input",
		"reviewing_integration → running_tests",
	)
	if diff := cmp.Diff(want, additions(builtinNamed(t, "issue-navigator")), cmpopts.SortSlices(func(a, b string) bool { return a < b })); diff != "" {
		t.Error(diff)
	}
}

func TestIssuePolicyAndLoopAreTheSources(t *testing.T) {
	d := builtinNamed(t, "issue")
	want := map[string]any{
		"confidence_threshold": 0.85, "test_above": 0.9, "submit_above": 0.8,
		"require_tests": true, "max_iterations": int64(10), "max_faults": int64(5), "hand_over": false,
		"test_changes": "aside", "unproven": "draft", "documents": "allow", "flake_runs": int64(2), "learnings": "confirmed", "red_first": "written", "refused": "end", "budget_usd": 0.0, "budget_tokens": int64(0),
		"warn_at": 0.8, "alert_at": 1.0, "escalate_at": 1.5,
	}
	if diff := cmp.Diff(want, d.Policy); diff != "" {
		t.Errorf("policy (-want +got):\n%s", diff)
	}
	if want := (Loop{Window: 3, Distinct: 2}); d.Loop != want {
		t.Errorf("loop %+v, want %+v", d.Loop, want)
	}
}
