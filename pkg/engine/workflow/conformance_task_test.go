package workflow

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

type taskSource struct {
	States map[string]struct {
		Owner   string   `yaml:"owner"`
		Row     []string `yaml:"row"`
		Timeout string   `yaml:"timeout"`
	} `yaml:"states"`
	Any   []string `yaml:"any"`
	Moves []struct {
		From, To, When, Actor string
		Failure               bool
	} `yaml:"moves"`
	Policy map[string]any      `yaml:"policy"`
	May    map[string][]string `yaml:"may"`
}

// source reads a transcript of testdata.
func source[T any](t *testing.T, name string) (table T) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name + "-source.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalWithOptions(text, &table, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	return table
}

func TestTaskWithoutItsAdditionsIsItsSourcesTable(t *testing.T) {
	table, d := source[taskSource](t, "task"), builtinNamed(t, "task")
	if own := len(ownStates(d)); len(table.States) != 12 || own != 12 {
		t.Errorf("the source has %d states, the definition %d, want 12", len(table.States), own)
	}
	for name, row := range table.States {
		s, ok := d.State(name)
		if !ok {
			t.Errorf("there is no state %s", name)
			continue
		}
		if fails := slices.ContainsFunc(s.Decide, func(r Rule) bool { return r.Failure }); fails && !slices.Contains(row.Row, "cto_intervention") && name != "cto_intervention" {
			row.Row = append(row.Row, table.Any...)
		}
		got := withoutAdditions(d)[name]
		if diff := cmp.Diff(row.Row, got.Row, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("row of %s (-source +definition):\n%s", name, diff)
		}
		var timeout time.Duration
		if row.Timeout != "" {
			timeout, _ = time.ParseDuration(row.Timeout)
		}
		if s.Owner != row.Owner || s.Timeout != timeout {
			t.Errorf("%s: owner %q, timeout %s; the source has %q, %s", name, s.Owner, s.Timeout, row.Owner, timeout)
		}
	}
}

func TestTaskAddsExactlyWhatItsSourceLeavesOpen(t *testing.T) {
	want := []string{
		"in_progress → in_progress",           // failures are counted in it and no move is named
		"testing → in_progress",               // failed self-checks lead nowhere
		"cto_intervention → testing",          // the CTO is called from any state; this way back is missing
		"cto_intervention → cto_intervention", // two attempts, and no way to the second
		"human_escalation → planning",         // a human resolves it; how it goes on is not said
	}
	if diff := cmp.Diff(want, additions(builtinNamed(t, "task"))); diff != "" {
		t.Error(diff)
	}
}

func TestEachMoveOfATaskIsMadeByItsActorForItsReason(t *testing.T) {
	table, d := source[taskSource](t, "task"), builtinNamed(t, "task")
	for _, m := range table.Moves {
		if m.From == "any" {
			l := d.Limits[0]
			if !slices.Contains(l.To, m.To) || d.Text(l.Reason) != m.When {
				t.Errorf("limit %+v, want %s → %s when %s", l, m.From, m.To, m.When)
			}
			continue
		}
		s, _ := d.State(m.From)
		to := m.To
		if to == "previous" {
			to = Previous
		}
		if actor := m.Actor; actor == "build orchestrator" && s.Owner != "" || actor != "build orchestrator" && actor != s.Owner {
			t.Errorf("%s → %s is made by %q, the source says %s", m.From, m.To, s.Owner, actor)
		}
		rules := slices.Concat(s.On[OnClaimed], s.Always, s.Decide)
		if !slices.ContainsFunc(rules, func(r Rule) bool {
			return slices.Contains(r.To, to) && d.Text(r.Reason) == m.When && r.Failure == m.Failure
		}) {
			t.Errorf("no rule of %s goes to %s because %q (failure: %v)", m.From, m.To, m.When, m.Failure)
		}
	}
}

func TestTaskPolicyAndRightsAreTheSources(t *testing.T) {
	table, d := source[taskSource](t, "task"), builtinNamed(t, "task")
	for name, want := range table.Policy {
		if n, ok := want.(uint64); ok {
			want = int64(n)
		}
		if got := d.Policy[name]; got != want {
			t.Errorf("policy %s is %v, the source has %v", name, got, want)
		}
	}
	if diff := cmp.Diff(table.May, d.May); diff != "" {
		t.Errorf("who may do what (-source +definition):\n%s", diff)
	}
}
