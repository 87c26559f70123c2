package view

import (
	"github.com/signalbox/signalbox/pkg/document/pipeline"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/series"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Document returns the pipeline's document of an instance as the API has it, under
// its definition.
func Document(p *pb.Instance, def *workflow.Definition) pipeline.Document {
	in := instance.Instance{
		ID: p.GetInstance(), Issue: wire.ToIssue(p.GetIssue()), OpenedAt: p.GetOpenedAt().AsTime(), State: p.GetState(),
		Kind:  workflow.Kind(p.GetKind()),
		Owner: p.GetOwner(), Previous: series.New(p.GetPreviousStates()...), Paused: p.GetPaused(), Closed: instance.Closed(p.GetClosed()),
		Reason:    p.GetReason(),
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
	return pipeline.Of(in, int(attempts))
}
