package rules

import (
	"github.com/signalbox/signalbox/pkg/document/prd"
	"github.com/signalbox/signalbox/pkg/engine/work"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
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

// planLine is a step, and how often it was made in a row.
type planLine struct {
	work.PastStep
	Times int
}

// Lines are the steps, each once if the next is the same again.
func (p PlanAnswer) Lines() (all []planLine) {
	for _, s := range p.Steps {
		if n := len(all); n > 0 && all[n-1].PastStep == s {
			all[n-1].Times++
			continue
		}
		all = append(all, planLine{s, 1})
	}
	return all
}
