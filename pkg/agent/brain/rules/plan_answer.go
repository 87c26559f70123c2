package rules

import (
	"github.com/signalbox/signalbox/pkg/prd"
	"github.com/signalbox/signalbox/pkg/work"
	"github.com/signalbox/signalbox/pkg/workflow"
)

// PlanAnswer is the answer to the command plan: what was found out and done, and what the
// result has to pass.
type PlanAnswer struct {
	Instance, Workflow, State, About string

	Steps    []work.PastStep // the newest, oldest first
	Earlier  int             // steps before those
	History  string          // the command that lists those
	Criteria []prd.Criterion // of the plan that the work came from
	Gates    []workflow.Gate // that still have to be passed
	Explain  string          // the command that says what moves it; empty: nothing does
}

// Text is the comment.
func (p PlanAnswer) Text() string { return write("plan_answer.md", p) }
