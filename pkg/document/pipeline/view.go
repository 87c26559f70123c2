package pipeline

import (
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/series"
	"github.com/signalbox/signalbox/pkg/engine/work"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// OfAssignment is the document as the agent with the assignment sees it.
func OfAssignment(a work.Assignment) Document {
	in := instance.Instance{
		ID: a.Instance, Issue: a.Issue, OpenedAt: a.Opened, State: a.State, Kind: workflow.Work, Owner: a.Role,
		Previous: series.New(a.Previous...), Last: a.Last,
		Questions: a.Questions, Notes: a.Notes, Escalations: a.Escalations, Sections: map[string]string{},
	}
	if a.Question != nil {
		in.Owner = a.Question.From // whose work it still is
	}
	count := 1
	for _, state := range a.Previous {
		if state == stateWriter {
			count++
		}
	}
	if a.State != stateWriter {
		count--
	}
	in.Visits = []instance.Visit{{State: stateWriter, Count: count}}
	for name, text := range a.Sections {
		in.Sections[name] = string(text)
	}
	return Of(in, number(a, "max_attempts"))
}

// Applies reports whether a lifecycle has the document: a state of it writes one
// of its sections.
func Applies(def *workflow.Definition) bool {
	for _, s := range def.States {
		for _, name := range s.Writes {
			if _, ok := owners()[name]; ok {
				return true
			}
		}
	}
	return false
}
