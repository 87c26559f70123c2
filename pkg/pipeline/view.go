package pipeline

import (
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/series"
	"github.com/signalbox/signalbox/pkg/wire"
	"github.com/signalbox/signalbox/pkg/workflow"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// OfView is the document of an instance as the API shows it, under its definition.
func OfView(p *pb.Instance, def *workflow.Definition) Document {
	in := instance.Instance{
		ID: p.GetInstance(), Issue: wire.ToIssue(p.GetIssue()), OpenedAt: p.GetOpenedAt().AsTime(), State: p.GetState(), Kind: workflow.Kind(p.GetKind()),
		Owner: p.GetOwner(), Previous: series.New(p.GetPreviousStates()...), Paused: p.GetPaused(), Closed: instance.Closed(p.GetClosed()), Reason: p.GetReason(),
		LastState: p.GetLastState(), Questions: wire.ToQuestions(p.GetQuestions()), Notes: wire.ToNotes(p.GetNotes()),
		Escalations: wire.ToEscalations(p.GetEscalations()), Sections: p.GetSections(),
	}
	for _, v := range p.GetVisits() {
		in.Visits = append(in.Visits, instance.Visit{State: v.GetState(), Count: int(v.GetCount())})
	}
	if p.GetLastResult() != nil {
		last := wire.ToResult(p.GetLastResult())
		in.Last = &last
	}
	attempts, _ := def.Policy["max_attempts"].(int64)
	return Of(in, int(attempts))
}

// OfAssignment is the document as whoever has the assignment sees it.
func OfAssignment(a brain.Assignment) Document {
	in := instance.Instance{
		ID: a.Instance, Issue: a.Issue, OpenedAt: a.Opened, State: a.State, Kind: workflow.Work, Owner: a.Role, Previous: series.New(a.Previous...), Last: a.Last,
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
