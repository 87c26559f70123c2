package workflow

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

type storySource struct {
	Statuses  []string `yaml:"statuses"`
	Moves     []struct{ From, To, Gate string }
	Final     []string `yaml:"final"`
	Selection []struct {
		Level          string `yaml:"level"`
		Status         string `yaml:"status"`
		LastActivityBy string `yaml:"lastActivityBy"`
	} `yaml:"selection"`
}

func TestStoryWithoutItsAdditionsIsItsSourcesTable(t *testing.T) {
	table, d := source[storySource](t, "story"), builtinNamed(t, "story")
	if diff := cmp.Diff(table.Statuses, namesOf(ownStates(d))); diff != "" {
		t.Errorf("statuses (-source +definition):\n%s", diff)
	}
	want := map[string][]string{}
	for _, m := range table.Moves {
		want[m.From] = append(want[m.From], m.To)
	}
	for _, s := range ownStates(d) {
		if diff := cmp.Diff(want[s.Name], withoutAdditions(d)[s.Name].Row, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("row of %s (-source +definition):\n%s", s.Name, diff)
		}
		if final := slices.Contains(table.Final, s.Name); final != (s.Kind == Final) {
			t.Errorf("%s is of kind %s", s.Name, s.Kind)
		}
	}
	if diff := cmp.Diff([]string{"pending → pending"}, additions(d)); diff != "" { // a failed try is tried again
		t.Errorf("additions: %s", diff)
	}
}

func TestStoriesArePickedInTheSourcesOrder(t *testing.T) {
	table, d := source[storySource](t, "story"), builtinNamed(t, "story")
	rank := func(status, last string, priority int64) []int64 {
		f := Facts{Instance: InstanceFacts{State: status}, Vars: map[string]any{}}
		for name, value := range d.Vars {
			f.Vars["vars."+name] = value
		}
		f.Vars["vars.lastActivityBy"], f.Vars["vars.priority"] = last, priority
		var out []int64
		for _, e := range d.Order {
			n, err := e.Rank(f)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, n)
		}
		return out
	}
	for i, level := range table.Selection {
		first := rank(level.Status, level.LastActivityBy, 1)
		if second := rank(level.Status, level.LastActivityBy, 2); slices.Compare(first, second) >= 0 {
			t.Errorf("%s: priority 2 (%v) comes before 1 (%v)", level.Level, second, first)
		}
		if i == 0 {
			continue
		}
		above := table.Selection[i-1]
		if last := rank(above.Status, above.LastActivityBy, 1000); slices.Compare(last, first) >= 0 {
			t.Errorf("%s (%v) comes before %s (%v)", level.Level, first, above.Level, last)
		}
	}
}
