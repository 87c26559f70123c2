package role_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/role"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/workflow"
)

func TestEveryDutyIsOfAStateThatThereIsAndOfWhoWorksThere(t *testing.T) {
	defs, err := workflow.Builtins()
	if err != nil {
		t.Fatal(err)
	}
	catalog := workflow.NewCatalog(defs...)
	like := map[role.Place]string{}
	for place := range role.BuiltIn() {
		def, err := catalog.Named(place.Workflow)
		if err != nil {
			t.Fatal(err)
		}
		state, ok := def.State(place.State)
		if !ok || place.Asked == (state.Owner == place.Role) || !slices.Contains(def.Roles(), place.Role) {
			t.Errorf("%+v is no place: the state's owner is %q", place, state.Owner)
		}
		where := place.Workflow
		if place.Workflow = ""; like[place] != "" {
			t.Errorf("%s in %s has a duty in %s and in %s: which is an overlay's?", place.Role, place.State, where, like[place])
		}
		like[place] = where
	}
}

func TestADutyIsOfALifecycleARoleAndAState(t *testing.T) {
	duties := role.BuiltIn()
	own, err := role.ParseDuties([]string{"verify=tests", "make=changes,accepts"}, "librarian")
	if err != nil {
		t.Fatal(err)
	}
	for place, duty := range own {
		duties[place] = duty
	}
	for _, c := range []struct {
		workflow, role, state string
		asked                 bool
		want                  role.Duty
	}{
		{"issue", "tester", "running_tests", false, role.Duty{Tests: true}},
		{"issue", "developer", "implementing", false, role.Duty{Changes: true}},
		{"issue", "developer", "running_tests", false, role.Duty{}},
		{"issue", "tester", "running_tests", true, role.Duty{}},
		{"issue-navigator", "tester", "running_tests", false, role.Duty{Tests: true}},
		{"an overlay of our own", "developer", "fixing_issues", false, role.Duty{Changes: true}},
		{"story", "developer", "pending", false, role.Duty{Changes: true, Accepts: true}},
		{"story", "developer", "pushed", true, role.Duty{Accepts: true}},
		{"story", "developer", "implementing", false, role.Duty{}},
		{"task", "fullstack-developer", "in_progress", false, role.Duty{Changes: true}},
		{"task", "fullstack-developer", "testing", false, role.Duty{Tests: true}},
		{"task", "quality-monitor", "quality_review", false, role.Duty{Tests: true}},
		{"task", "solution-validator", "planning", false, role.Duty{Judges: true}},
		{"task", "cto", "pending", true, role.Duty{Judges: true}},
		{"pipeline", "build", "build", false, role.Duty{Checks: true}},
		{"pipeline", "writer", "writer", false, role.Duty{Changes: true}},
		{"pipeline", "analyst", "writer", true, role.Duty{}},
		{"library", "librarian", "lend", false, role.Duty{}},
		{"library", "librarian", "verify", false, role.Duty{Tests: true}},
		{"library", "librarian", "make", false, role.Duty{Changes: true, Accepts: true}},
	} {
		a := brain.Assignment{Workflow: c.workflow, Role: c.role, State: c.state}
		if c.asked {
			a.Question = &instance.Question{Number: 1}
		}
		if got := duties.For(a); got != c.want {
			t.Errorf("%s in %s of %s (asked: %v): %+v, want %+v", c.role, c.state, c.workflow, c.asked, got, c.want)
		}
	}
}

func TestADutyThatIsNoneIsRefused(t *testing.T) {
	for value, says := range map[string]string{
		"verify": "want STATE=DUTY", "=tests": "want STATE=DUTY", "verify=": "want STATE=DUTY", "verify=walks": "accepts, changes, checks, judges, tests",
		"verify=tests,changes": "dropped",
	} {
		if _, err := role.ParseDuties([]string{value}, "tester"); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q is answered %v", value, err)
		}
	}
}
