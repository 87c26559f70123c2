package app

import (
	"cmp"
	"context"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/document/prd"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/engine/work"
	"github.com/signalbox/signalbox/pkg/forge/command"
)

// maxPlanSteps is how many steps the answer to plan lists, the newest.
const maxPlanSteps = 12

// plan describes the findings, the work so far, and the checks that the result has to pass.
func (o order) plan(ctx context.Context) (string, error) {
	def, err := o.definition(ctx)
	if err != nil {
		return "", err
	}
	records, err := o.client.History(ctx, o.of.id, 0)
	if err != nil {
		return "", err
	}
	commits := make([]instance.Commit, 0, len(records))
	for _, r := range records {
		commits = append(commits, instance.Commit{Seq: r.GetSeq(), Events: wire.ToEvents(r.GetCommit())})
	}
	in := o.of.in
	state, _ := def.State(in.GetState())
	p := rules.PlanAnswer{Instance: in.GetInstance(), Workflow: in.GetWorkflow(), State: in.GetState(), About: state.About,
		Steps: work.PastSteps(commits), History: "signalbox history " + in.GetInstance()}
	if p.Earlier = len(p.Steps) - maxPlanSteps; p.Earlier > 0 {
		p.Steps = p.Steps[p.Earlier:]
	}
	p.Earlier = max(p.Earlier, 0)
	if text := cmp.Or(in.GetSections()["story"], in.GetVars()["story"]); text != "" {
		s, err := prd.ParseStory(text)
		if err != nil {
			return "", refuse("cannot read the story of this work: %v", err)
		}
		p.Criteria = s.Criteria
	}
	if in.GetClosed() == "" {
		p.Gates, p.Explain = def.Gates, "/"+o.grammar.Name+" "+command.Explain
	}
	return p.Text(), nil
}
