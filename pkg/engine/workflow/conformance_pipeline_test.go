package workflow

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type pipelineSource struct {
	States map[string]struct {
		Owner  string   `yaml:"owner"`
		Row    []string `yaml:"row"`
		Writes []string `yaml:"writes"`
	} `yaml:"states"`
	Statuses    []string `yaml:"statuses"`
	MaxAttempts int64    `yaml:"max_attempts"`
	Exhausted   string   `yaml:"exhausted"`
}

func TestPipelineWithoutItsAdditionsIsItsSources(t *testing.T) {
	table, d := source[pipelineSource](t, "pipeline"), builtinNamed(t, "pipeline")
	for name, want := range table.States {
		s, _ := d.State(name)
		// Every agent's run may fail or be blocked: those are statuses, not moves, in the source.
		row := slices.DeleteFunc(withoutAdditions(d)[name].Row, func(to string) bool {
			return to != "completed" && slices.Contains(table.Statuses, to)
		})
		slices.Sort(row)
		slices.Sort(want.Row)
		if diff := cmp.Diff(want.Row, row); diff != "" {
			t.Errorf("row of %s (-source +definition):\n%s", name, diff)
		}
		if s.Owner != want.Owner {
			t.Errorf("%s is owned by %q", name, s.Owner)
		}
		if diff := cmp.Diff(want.Writes, s.Writes); diff != "" {
			t.Errorf("sections of %s (-source +definition):\n%s", name, diff)
		}
	}
	for _, s := range ownStates(d) {
		if _, agent := table.States[s.Name]; !agent && !slices.Contains(table.Statuses, s.Name) {
			t.Errorf("the source has no %s", s.Name)
		}
	}
	want := []string{ // a second attempt, and the ways on that a blocked run lacks
		"writer → writer", "blocked → triage", "blocked → analyst", "blocked → writer", "blocked → reviewer",
		"blocked → committer", "blocked → failed",
	}
	if diff := cmp.Diff(want, additions(d)); diff != "" {
		t.Errorf("additions: %s", diff)
	}
}

func TestPipelineSpendsTheSourcesAttempts(t *testing.T) {
	table, d := source[pipelineSource](t, "pipeline"), builtinNamed(t, "pipeline")
	if got := d.Policy["max_attempts"]; got != table.MaxAttempts {
		t.Errorf("max_attempts is %v", got)
	}
	if got := d.Text(d.Limits[0].Reason); got != table.Exhausted {
		t.Errorf("the run ends because %q", got)
	}
}
