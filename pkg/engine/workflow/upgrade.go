package workflow

import "slices"

// Definitions had no `work` and no `answers` once, and instances run for as long
// as people take to answer. Here is what states asked for then, by their names.
// It is read for definitions in which no state says it, and for orchestrators
// that do not say it with a claim. Nothing is added here any more: a state says
// itself what its work is.

// earlier is what one role did in one state of a built-in lifecycle.
type earlier struct {
	workflow, state, role string
	answers               bool // the role is asked something there
	work                  WorkSpec
}

var earlierWork = []earlier{
	{"issue", "received", "pm", false, WorkSpec{Does: TakeUp}},
	{"issue", "requirements_unclear", "pm", false, WorkSpec{Does: AskQuestions}},
	{"issue", "requirements_clarified", "pm", false, WorkSpec{Does: ReadAnswers}},
	{"issue", "planning_approach", "pm", false, WorkSpec{Does: Plan}},
	{"issue", "human_input_received", "pm", false, WorkSpec{Does: ReadDecision}},
	{"issue", "blocked", "pm", false, WorkSpec{Does: AskForHelp}},
	{"issue", "creating_pr", "pm", false, WorkSpec{Does: OpenPullRequest}},
	{"issue", "creating_tests", "tester", false, WorkSpec{Does: WriteTests}},
	{"issue", "updating_tests", "tester", false, WorkSpec{Does: WriteTests}},
	{"issue", "running_tests", "tester", false, WorkSpec{Runs: RunsTests}},
	{"issue", "validating_solution", "tester", false, WorkSpec{Runs: RunsTests}},
	{"issue", "implementing", "developer", false, WorkSpec{Change: ChangeRequired}},
	{"issue", "fixing_issues", "developer", false, WorkSpec{Change: ChangeRequired}},
	{"issue", "refactoring", "developer", false, WorkSpec{Change: ChangeRequired}},
	{"issue", "addressing_feedback", "developer", false, WorkSpec{Change: ChangeRequired}},

	{"pipeline", "triage", "triage", false, WorkSpec{Change: ChangeDropped}},
	{"pipeline", "analyst", "analyst", false, WorkSpec{Change: ChangeDropped}},
	{"pipeline", "writer", "writer", false, WorkSpec{Change: ChangeRequired}},
	{"pipeline", "build", "build", false, WorkSpec{Runs: RunsChecks}},
	{"pipeline", "reviewer", "reviewer", false, WorkSpec{Change: ChangeDropped}},

	{"story", "pending", "developer", false, WorkSpec{Runs: RunsCriteria, Change: ChangeRequired}},
	{"story", "pushed", "developer", true, WorkSpec{Runs: RunsCriteria}},
	{"story", "committed", "shepherd", false, WorkSpec{Does: OpenPullRequest}},
	{"story", "pushed", "shepherd", false, WorkSpec{Does: TendPullRequest}},

	{"task", "planning", "solution-validator", false, WorkSpec{Change: ChangeDropped}},
	{"task", "in_progress", "fullstack-developer", false, WorkSpec{Change: ChangeRequired}},
	{"task", "testing", "fullstack-developer", false, WorkSpec{Runs: RunsTests, Does: SelfCheck}},
	{"task", "quality_review", "quality-monitor", false, WorkSpec{Runs: RunsTests}},
	{"task", "cto_intervention", "cto", false, WorkSpec{Change: ChangeDropped}},
	{"task", "pending", "cto", true, WorkSpec{Change: ChangeDropped}},
}

// EarlierWork returns what a role did in a state of a lifecycle before definitions could
// say it. A lifecycle that is not built in gets the work from a built-in one's state of the
// same name and role.
func EarlierWork(workflow, state, role string, asked bool) WorkSpec {
	for _, e := range earlierIn(workflow) {
		if e.state == state && e.role == role && e.answers == asked {
			return e.work
		}
	}
	return WorkSpec{}
}

func earlierAnswers(workflow, state string) map[string]WorkSpec {
	var answers map[string]WorkSpec
	for _, e := range earlierIn(workflow) {
		if e.answers && e.state == state {
			if answers == nil {
				answers = map[string]WorkSpec{}
			}
			answers[e.role] = e.work
		}
	}
	return answers
}

func earlierIn(workflow string) []earlier {
	in := slices.DeleteFunc(slices.Clone(earlierWork), func(e earlier) bool { return e.workflow != workflow })
	if len(in) == 0 {
		return earlierWork
	}
	return in
}
