package role

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/brain"
)

// Duty is what the runtime does with a role's work in one place, beside having
// it thought about. The zero Duty takes over what the brain changed, if anything.
type Duty struct {
	Tests   bool // the repository's tests are run; the brain judges them
	Checks  bool // tests, lint and type checks are; the brain judges them
	Judges  bool // the brain judges something else
	Changes bool // a change is asked for: success without one is a failure
	Accepts bool // the acceptance criteria are run on what the brain leaves
}

// drops reports whether what the brain changes is dropped.
func (d Duty) drops() bool { return d.Tests || d.Checks || d.Judges }

// code reports whether there is nothing to do without code.
func (d Duty) code() bool { return d.Tests || d.Checks || d.Changes || d.Accepts }

// Place is where a duty holds: a state of a lifecycle, and the role that works
// in it or, if it is asked something there, another.
type Place struct {
	Workflow string // empty: any
	Role     string
	State    string
	Asked    bool
}

// Duties are duties by place. Where there is none, a role just thinks, and what
// it changes is taken over.
type Duties map[Place]Duty

// BuiltIn is the duties of the built-in lifecycles.
func BuiltIn() Duties {
	tests, checks, judges, changes := Duty{Tests: true}, Duty{Checks: true}, Duty{Judges: true}, Duty{Changes: true}
	d := Duties{}
	d.add("issue", "tester", tests, "running_tests", "validating_solution")
	d.add("issue", "developer", changes, "implementing", "fixing_issues", "refactoring", "addressing_feedback")

	d.add("pipeline", "triage", judges, "triage")
	d.add("pipeline", "analyst", judges, "analyst")
	d.add("pipeline", "writer", changes, "writer")
	d.add("pipeline", "build", checks, "build")
	d.add("pipeline", "reviewer", judges, "reviewer")

	// Answering a review has the gates of the first development.
	d.add("story", "developer", Duty{Changes: true, Accepts: true}, "pending")
	d[Place{"story", "developer", "pushed", true}] = Duty{Accepts: true}

	d.add("task", "solution-validator", judges, "planning")
	d.add("task", "fullstack-developer", changes, "in_progress")
	d.add("task", "fullstack-developer", tests, "testing")
	d.add("task", "quality-monitor", tests, "quality_review")
	d.add("task", "cto", judges, "cto_intervention")
	d[Place{"task", "cto", "pending", true}] = judges // the review of the codebase
	return d
}

func (d Duties) add(workflow, role string, duty Duty, states ...string) {
	for _, state := range states {
		d[Place{workflow, role, state, false}] = duty
	}
}

// For returns the duty of an assignment. A lifecycle that none of the places is
// of, such as one laid over a built-in one, has the duties of the states that
// another has by the same name for the same role.
func (d Duties) For(a brain.Assignment) Duty {
	at := Place{a.Workflow, a.Role, a.State, a.Question != nil}
	if duty, ok := d[at]; ok {
		return duty
	}
	at.Workflow = ""
	if duty, ok := d[at]; ok {
		return duty
	}
	var like Duty
	for place, duty := range d {
		if place.Workflow == a.Workflow {
			return Duty{}
		}
		if place.Workflow = ""; place == at {
			like = duty
		}
	}
	return like
}

// ParseDuties reads what states ask of a role: STATE=DUTY, with the duties
// tests, checks, judges, changes and accepts, several between commas.
func ParseDuties(values []string, role string) (Duties, error) {
	all := map[string]func(*Duty){
		"tests": func(d *Duty) { d.Tests = true }, "checks": func(d *Duty) { d.Checks = true }, "judges": func(d *Duty) { d.Judges = true },
		"changes": func(d *Duty) { d.Changes = true }, "accepts": func(d *Duty) { d.Accepts = true },
	}
	duties := Duties{}
	for _, v := range values {
		state, list, found := strings.Cut(v, "=")
		var duty Duty
		for name := range strings.SplitSeq(list, ",") {
			set, ok := all[name]
			if !found || state == "" || !ok {
				return nil, fmt.Errorf("--duty %q: want STATE=DUTY, with one or several of %s", v, strings.Join(slices.Sorted(maps.Keys(all)), ", "))
			}
			set(&duty)
		}
		if duty.drops() && (duty.Changes || duty.Accepts) {
			return nil, fmt.Errorf("--duty %q: where something is judged, what is changed is dropped", v)
		}
		duties[Place{"", role, state, false}] = duty
	}
	return duties, nil
}
